/** A reason why the process cannot start, told in one plain sentence; the entry point prints it and exits 1. */
export class StartupError extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = 'StartupError';
  }
}
