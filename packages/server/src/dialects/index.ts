/** Every dialect we serve. A new one is added here and nowhere else. */
import { broadcast } from './broadcast/dialect.ts';
import type { Dialect } from './dialect.ts';

export const DIALECTS: readonly Dialect[] = [broadcast];
