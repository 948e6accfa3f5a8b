import { createMemoryCounters } from '#lib/cache/counters.ts';
import { describeCounters } from '../support/stores/counters-suite.ts';

describeCounters('in this process', createMemoryCounters);
