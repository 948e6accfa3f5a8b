import { existsSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { cached } from './cache-folder.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { startInDocker } from './docker.ts';
import { findJava, type Java } from './java.ts';
import { findKafkaFiles, formatData, type KafkaFiles, kafkaVersion, writeProperties } from './kafka-files.ts';
import { type KafkaDemands, scramUser, securedProperties } from './kafka-security.ts';
import { runLocalDaemon } from './local-daemon.ts';
import type { LocalServer } from './local-server.ts';
import { MissingInfrastructure, tell } from './programs.ts';
import { makeWorkFolder, type WorkFolder } from './work-folder.ts';

const readyMs = 60_000;
const attempts = 3;

/**
 * Starts an Apache Kafka (KRaft) of one broker, without any topic. @param demands what it demands of clients;
 * the container demands nothing. @throws MissingInfrastructure
 */
export async function startLocalKafka(demands?: KafkaDemands): Promise<LocalServer> {
  const tried: string[] = [];
  try {
    const java = await findJava();
    return await startBroker(java, demands);
  } catch (error) {
    tried.push(tell(error));
  }
  try {
    if (demands) throw new Error('the container demands neither TLS nor passwords');
    return await startContainer();
  } catch (error) {
    tried.push(tell(error));
  }
  const help =
    'apt-get install default-jre-headless maven (or brew install maven), or KAFKA_BROKERS=127.0.0.1:9092';
  throw new MissingInfrastructure('Apache Kafka', tried, help);
}

async function startBroker(java: Java, demands: KafkaDemands | undefined): Promise<LocalServer> {
  const files = await findKafkaFiles(java);
  const archive = await archivedClasses(java, files);
  const classes = existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [];
  for (let attempt = 1; ; attempt += 1) {
    const work = await makeWorkFolder('kafka');
    const data = path.join(work.path, 'data');
    if (demands) await formatData(java, files.libraries, data, scramUser(demands));
    else await cp(files.data, data, { recursive: true });
    const port = await freePort();
    const plain = writeProperties({ port, controllerPort: await freePort(), data });
    const properties = demands
      ? securedProperties(plain, { port, plainPort: await freePort(), demands })
      : plain;
    await writeFile(path.join(work.path, 'server.properties'), properties, { mode: 0o600 });
    const start = () => launch({ java, classes, libraries: files.libraries, work, port });
    try {
      return await runLocalDaemon({ address: `127.0.0.1:${port}`, work, start });
    } catch (error) {
      await work.remove();
      // Somebody else may have taken a port that was free.
      if (attempt === attempts) throw error;
    }
  }
}

/**
 * The classes that a broker loads, in an archive. A first broker writes the archive when it stops; later
 * brokers start with half of the CPU time
 * (https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html). A Java that cannot write or read
 * the archive loads the classes one by one.
 */
async function archivedClasses(java: Java, { libraries, data }: KafkaFiles): Promise<string> {
  const name = 'classes.jsa';
  const folder = await cached(`kafka-${kafkaVersion}-classes`, async (made) => {
    const work = await makeWorkFolder('kafka');
    const own = path.join(work.path, 'data');
    const port = await freePort();
    await cp(data, own, { recursive: true });
    const properties = writeProperties({ port, controllerPort: await freePort(), data: own });
    await writeFile(path.join(work.path, 'server.properties'), properties, { mode: 0o600 });
    const classes = [`-XX:ArchiveClassesAtExit=${path.join(made, name)}`];
    await launch({ java, classes, libraries, work, port })
      .then((daemon) => daemon.stop())
      .finally(() => work.remove());
  });
  return path.join(folder, name);
}

function launch({
  java: { java, environment },
  classes,
  libraries,
  work,
  port,
}: {
  java: Java;
  /** Options of Java about classes. */
  classes: readonly string[];
  libraries: string;
  work: WorkFolder;
  port: number;
}): Promise<Daemon> {
  const machine = [...classes, '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'];
  const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn';
  const settings = path.join(work.path, 'server.properties');
  return startDaemon({
    command: [java, ...machine, logging, '-cp', `${libraries}/*`, 'kafka.Kafka', settings],
    environment,
    log: path.join(work.path, 'kafka.log'),
    port,
    readyMs,
  });
}

function startContainer(): Promise<LocalServer> {
  const settings = {
    NODE_ID: '1',
    PROCESS_ROLES: 'broker,controller',
    LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093',
    ADVERTISED_LISTENERS: 'PLAINTEXT://127.0.0.1:{port}',
    CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
    LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    AUTO_CREATE_TOPICS_ENABLE: 'false',
  };
  return startInDocker({
    image: `apache/kafka:${kafkaVersion}`,
    port: 9092,
    addressOf: (port) => `127.0.0.1:${port}`,
    settings: Object.entries(settings).flatMap(([name, value]) => ['-e', `KAFKA_${name}=${value}`]),
  });
}
