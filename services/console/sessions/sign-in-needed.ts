/**
 * The API accepts the token of the session no longer, or demands that the person has signed in recently
 * (RFC 9470). A form that was sent is kept meanwhile.
 */
export class SignInNeeded extends Error {
  override name = 'SignInNeeded';
  /** Seconds; undefined if the token is not accepted at all. */
  readonly maxAge: number | undefined;

  constructor(maxAge?: number) {
    super(
      maxAge === undefined
        ? 'the API does not accept the token'
        : `the API asks for a sign-in within ${maxAge} seconds`,
    );
    this.maxAge = maxAge;
  }
}
