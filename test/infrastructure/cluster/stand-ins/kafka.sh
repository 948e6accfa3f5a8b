#!/bin/bash
# Starts a program of Kafka, by the name of this script, from the jar files in /opt/kafka/libs.
set -euo pipefail
case $(basename "$0") in
  kafka-storage.sh) program=kafka.tools.StorageTool ;;
  kafka-server-start.sh) program=kafka.Kafka ;;
  kafka-topics.sh) program=org.apache.kafka.tools.TopicCommand ;;
esac
# shellcheck disable=SC2086
exec java ${KAFKA_HEAP_OPTS:--Xmx256m} -XX:+UseSerialGC -cp '/opt/kafka/libs/*' "$program" "$@"
