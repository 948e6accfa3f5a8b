/** A server of this machine for tests, benches and developers, which faults can be done to. */
export interface LocalServer {
  /** What a client is given: `host:port` for Kafka, a URL for Redis. */
  address: string;
  /** Undefined if it is somebody else's, or in a container. */
  pid(): number | undefined;
  /** Ends it at once (SIGKILL). */
  kill(): Promise<void>;
  /** SIGSTOP: it keeps its connections and answers nothing. */
  pause(): void;
  resume(): void;
  /** After {@link kill}: the same again, on the same port with the same data. */
  launch(): Promise<void>;
  /** Ends it for good and removes what it has written. */
  stop(): Promise<void>;
}
