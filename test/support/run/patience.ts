/**
 * How long tests wait for a condition (`expect.poll`, `vi.waitFor`, `vi.waitUntil`): longer than any machine
 * needs, and only a failure takes so long.
 */
export const patience = { timeout: 45_000, interval: 20 };
