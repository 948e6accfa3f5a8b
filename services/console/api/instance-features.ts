/** How long the features are remembered: they change only with a start of the API. */
const rememberMs = 60_000;
const timeoutMs = 3_000;

/**
 * Reads `features` of GET /system/config, which decides what the navigation shows.
 * @returns undefined while the API does not tell.
 */
export function rememberFeatures(apiUrl: string): () => Promise<readonly string[] | undefined> {
  let known: Promise<readonly string[] | undefined> | undefined;
  let readAt = 0;
  return () => {
    if (!known || Date.now() - readAt > rememberMs) {
      readAt = Date.now();
      known = readFeatures(apiUrl);
    }
    return known;
  };
}

async function readFeatures(apiUrl: string): Promise<readonly string[] | undefined> {
  try {
    const response = await fetch(`${apiUrl}/system/config`, {
      headers: { Accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { features } = (await response.json()) as { features?: readonly string[] };
    return features;
  } catch {
    return undefined;
  }
}
