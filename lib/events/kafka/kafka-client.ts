import { createRequire } from 'node:module';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type ISocketFactory, Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs';
import type { KafkaSecurity } from '#lib/config/kafka-security.ts';

/** The queue of requests of a kafkajs connection, which its types do not declare. */
interface RequestQueue {
  pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

const require = createRequire(import.meta.url);

/**
 * In kafkajs 2.2.4 every connection polls its queue a thousand times a second, because the time of its next
 * poll lies in the past. That costs each process a few hundredths of a core and a warning about a negative
 * timer. It only needs to poll while a request is queued.
 */
function quietenIdleConnections(): void {
  const { prototype } = require('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleIfNeeded() {
    if (this.pending.length > 0) schedule.call(this);
  };
}

quietenIdleConnections();

/** Three attempts; then the relay sends again, and a reader starts a new consumer. */
export const retry = { initialRetryTime: 200, maxRetryTime: 2000, retries: 2 } as const;

const tcpKeepAliveMs = 60_000;

/** The brokers, and the name of this client. */
export interface KafkaAddress {
  brokers: readonly string[];
  /** The name of the process in the broker's logs: a service's name. */
  clientId: string;
  /** Without it, plain connections without authentication. */
  security?: KafkaSecurity | undefined;
}

/** A client whose sockets can be closed. */
export interface KafkaConnection {
  kafka: Kafka;
  /**
   * Closes all connections, and every later one at once. Everything that kafkajs waits for then fails, so the
   * client ends in any state and does not reconnect.
   */
  cut(): void;
}

/**
 * A client with all waits bounded. It logs nothing by itself, because its messages may quote events; its
 * users log what matters.
 */
export function createKafkaClient(address: KafkaAddress, socketFactory?: ISocketFactory): Kafka {
  const { tls, sasl } = address.security ?? {};
  return new Kafka({
    brokers: [...address.brokers],
    clientId: address.clientId,
    connectionTimeout: 3_000,
    requestTimeout: 5_000,
    enforceRequestTimeout: true,
    retry,
    logLevel: logLevel.NOTHING,
    ...(tls && { ssl: tls as NonNullable<KafkaConfig['ssl']> }),
    ...(sasl && { sasl: sasl as SASLOptions }),
    ...(socketFactory && { socketFactory }),
  });
}

/**
 * A client for a single consumer or producer. kafkajs may wait for ever if a connection breaks at the wrong
 * moment, for example in `disconnect`; closing its sockets always ends it.
 */
export function createKafkaConnection(address: KafkaAddress): KafkaConnection {
  const sockets = new Set<Socket>();
  let isCut = false;
  const end = (socket: Socket) => void socket.destroy(new Error('The connection to Kafka was closed by us.'));
  const socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    const serverName = isIP(host) ? {} : { servername: host };
    const socket = ssl
      ? connectTls({ host, port, ...serverName, ...ssl }, onConnect)
      : connect({ host, port }, onConnect);
    socket.setKeepAlive(true, tcpKeepAliveMs);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (isCut) end(socket);
    return socket;
  };
  return {
    kafka: createKafkaClient(address, socketFactory),
    cut() {
      isCut = true;
      for (const socket of sockets) end(socket);
    },
  };
}
