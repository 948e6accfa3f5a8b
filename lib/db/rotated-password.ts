import pg from 'pg';

/** SQLSTATE `invalid_password`. */
const refused = '28P01';

type Callback = (error: unknown, ...results: unknown[]) => void;
type Connect = (done?: Callback) => unknown;

/**
 * Lets a pool sign in with any of the passwords of its role, so that the password in PostgreSQL can change
 * while the process runs. The pool keeps the password that was accepted last.
 * @param passwords in the order in which they are tried.
 */
export function createPasswordRotation(passwords: readonly string[]): {
  /** The `Client` of the pool's options. */
  Client: typeof pg.Client;
  /** Repeats connections of the pool that PostgreSQL refuses, with the next password. */
  watch(pool: pg.Pool): void;
} {
  let current = 0;
  class Client extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      this.password = passwords[current];
    }
  }
  /** Several connections may be refused at once; the first of them changes the password. */
  const isWorthAnother = (error: unknown, tried: number, attempt: number): boolean => {
    if ((error as { code?: string } | undefined)?.code !== refused || attempt === passwords.length)
      return false;
    if (tried === current) current = (current + 1) % passwords.length;
    return true;
  };
  const connectWith = (connect: Connect, done: Callback, attempt = 1): void => {
    const tried = current;
    connect((error, ...results) => {
      if (isWorthAnother(error, tried, attempt)) connectWith(connect, done, attempt + 1);
      else done(error, ...results);
    });
  };
  return {
    Client,
    watch(pool) {
      const connect = pool.connect.bind(pool) as Connect;
      const connectAny: Connect = (done) => {
        if (done) return connectWith(connect, done);
        return new Promise((resolve, reject) => {
          connectWith(connect, (error, client) => (error ? reject(error) : resolve(client)));
        });
      };
      pool.connect = connectAny as typeof pool.connect;
    },
  };
}
