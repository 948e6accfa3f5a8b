import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cached } from './cache-folder.ts';
import type { Java } from './java.ts';
import { execute } from './programs.ts';

export const kafkaVersion = '4.3.1';
const mavenPlugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const clusterId = 'YWNjb3JkLWxvY2FsLWthZg';

/** Without slf4j-simple a broker that dies prints no reason. */
const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${kafkaVersion}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;

/** Apache Kafka as its jar files, by Maven, and a data folder that is formatted and empty. */
export interface KafkaFiles {
  libraries: string;
  data: string;
}

export async function findKafkaFiles(java: Java): Promise<KafkaFiles> {
  const libraries = await cached(`kafka-${kafkaVersion}`, (folder) => download(java, folder));
  const data = await cached(`kafka-${kafkaVersion}-data`, (folder) => formatData(java, libraries, folder));
  return { libraries, data };
}

async function download({ maven, environment }: Java, folder: string): Promise<void> {
  const work = await mkdtemp(path.join(tmpdir(), 'accord-maven-'));
  try {
    await writeFile(path.join(work, 'pom.xml'), pom);
    const settings = [
      `-Dmaven.repo.local=${work}/repository`,
      `-DoutputDirectory=${folder}`,
      '-DincludeScope=runtime',
    ];
    await execute(maven, ['-B', '-q', '-f', path.join(work, 'pom.xml'), mavenPlugin, ...settings], {
      env: { ...process.env, ...environment },
      cwd: work,
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Formats a data folder. @param more arguments of the program, such as users of SCRAM. */
export async function formatData(
  { java, environment }: Java,
  libraries: string,
  folder: string,
  more: readonly string[] = [],
): Promise<void> {
  const work = await mkdtemp(path.join(tmpdir(), 'accord-kafka-'));
  try {
    const properties = path.join(work, 'server.properties');
    await mkdir(path.join(folder), { recursive: true });
    await writeFile(properties, writeProperties({ port: 9092, controllerPort: 9093, data: folder }));
    const words = [
      '-cp',
      `${libraries}/*`,
      'kafka.tools.StorageTool',
      'format',
      '-t',
      clusterId,
      '-c',
      properties,
      ...more,
    ];
    await execute(java, words, { env: { ...process.env, ...environment } });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * One broker that is its own controller, quick to start and to notice that it was killed; services never make
 * a topic by themselves.
 */
export function writeProperties({
  port,
  controllerPort,
  data,
}: {
  port: number;
  controllerPort: number;
  data: string;
}): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
log.dirs=${data}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
default.replication.factor=1
group.initial.rebalance.delay.ms=0
controlled.shutdown.enable=false
auto.create.topics.enable=false
log.cleaner.dedupe.buffer.size=4194304
log.cleaner.backoff.ms=1000
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=300
metadata.max.idle.interval.ms=0
`;
}
