import { createMemoryCache } from '#lib/cache/cache.ts';
import { createMemoryCounters } from '#lib/cache/counters.ts';
import { describeCache, describeCounters } from '../support/stores/cache-suite.ts';

const cache = createMemoryCache();
describeCache('in this process', () => cache);
describeCounters('in this process', createMemoryCounters);
