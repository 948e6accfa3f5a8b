import { connect, type Socket } from 'node:net';
import { type ISocketFactory, Kafka, logLevel } from 'kafkajs';
import { quietenIdleConnections } from '#lib/events/kafka/idle-connections.ts';

quietenIdleConnections();

/** Three attempts, then whoever asked decides: the relay sends again, a reader begins again. */
export const retry = { initialRetryTime: 200, maxRetryTime: 2000, retries: 2 } as const;

const tcpKeepAliveMs = 60_000;

/** Where the brokers are, and as whom they are asked. */
export interface KafkaAddress {
  brokers: readonly string[];
  /** The process, in the broker's own logs: a service's name. */
  clientId: string;
}

/** A client whose connections are in our hands. */
export interface KafkaConnection {
  kafka: Kafka;
  /**
   * Ends every connection of it, now and from now on. What kafkajs waits for fails then, so whatever state it is in it ends, and nothing of it
   * comes back to life.
   */
  cut(): void;
}

/**
 * A client with bounds on everything (reliability.md, "kafkajs"). It logs nothing by itself: its messages may quote what came, and what
 * matters is told by those who use it.
 */
export function createKafkaClient(address: KafkaAddress, socketFactory?: ISocketFactory): Kafka {
  return new Kafka({
    brokers: [...address.brokers],
    clientId: address.clientId,
    connectionTimeout: 3_000,
    requestTimeout: 5_000,
    enforceRequestTimeout: true,
    retry,
    logLevel: logLevel.NOTHING,
    ...(socketFactory && { socketFactory }),
  });
}

/**
 * A client for one consumer or producer alone. kafkajs may wait for ever, for example to disconnect, when connections break in an unlucky moment:
 * only who holds its sockets can be sure to end it.
 */
export function createKafkaConnection(address: KafkaAddress): KafkaConnection {
  const sockets = new Set<Socket>();
  let isCut = false;
  const end = (socket: Socket) => void socket.destroy(new Error('The connection to Kafka is given up.'));
  const socketFactory: ISocketFactory = ({ host, port, onConnect }) => {
    const options = { host, port, keepAlive: true, keepAliveInitialDelay: tcpKeepAliveMs };
    const socket = connect(options, onConnect);
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
