/** The dialect list of a server with default settings, without starting one. */

import type { DialectList } from '@parlance/protocol/api';
import { dialectList } from '../describe/dialect-list.ts';
import { DIALECTS } from '../dialects/index.ts';
import { unstartedDialects } from './unstarted.ts';

/** `settings` are environment variables. */
export const listedDialects = (settings: Record<string, string> = {}): Promise<DialectList> =>
  dialectList(unstartedDialects(DIALECTS, settings));
