/** Messages from the panel, and from the indicator in a page, to the worker. */

import type { ActionAnswer, SiteAnswer, SiteChoice } from './shared/records.ts';

export type PanelMessage =
  | { readonly kind: 'task'; readonly session: string; readonly tab: number; readonly query: string }
  /** the answer to a question of a task */
  | { readonly kind: 'reply'; readonly session: string; readonly text: string }
  | { readonly kind: 'answer'; readonly id: string; readonly answer: SiteAnswer | ActionAnswer }
  /** from now on, on this site */
  | { readonly kind: 'site'; readonly site: string; readonly choice: SiteChoice }
  /** ends one task, or everything that happens in the browser */
  | { readonly kind: 'stop'; readonly session?: string }
  /** reconnect, and resume tasks that wait for the server */
  | { readonly kind: 'retry' }
  /** the server refused the panel: is the extension still paired? */
  | { readonly kind: 'check' };

export type WorkerReply = { readonly ok: true } | { readonly ok: false; readonly message: string };
