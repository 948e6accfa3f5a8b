/** The API demands that the person has signed in recently (RFC 9470). The form is kept meanwhile. */
export class FreshSignInNeeded extends Error {
  override name = 'FreshSignInNeeded';
  /** Seconds. */
  readonly maxAge: number;

  constructor(maxAge: number) {
    super(`the API asks for a sign-in within ${maxAge} seconds`);
    this.maxAge = maxAge;
  }
}
