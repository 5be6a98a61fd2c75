/** Questions of the extension itself, which the panel shows and a person answers. */
import type { SensitiveReason } from '../messages.ts';

export type SiteAnswer = 'once' | 'always' | 'never';
export type ActionAnswer = 'allow' | 'deny';

type AskBase = {
  /** the same question has the same id, also after the worker was suspended */
  readonly id: string;
  readonly tab: number;
  /** the origin that it is about */
  readonly site: string;
  /** the session of the task; null for browser tools of other clients */
  readonly session: string | null;
  readonly at: number;
};

export type SiteAsk = AskBase & {
  readonly kind: 'site';
  /** what would be done there */
  readonly purpose: string;
  readonly answer: SiteAnswer | null;
};

export type ActionAsk = AskBase & {
  readonly kind: 'action';
  readonly reasons: readonly SensitiveReason[];
  readonly description: string;
  readonly destination: string | null;
  readonly answer: ActionAnswer | null;
};

export type Ask = SiteAsk | ActionAsk;

export const REASONS: Readonly<Record<SensitiveReason, string>> = {
  payment: 'It submits a form that looks like a payment.',
  download: 'It downloads a file.',
  upload: 'It uploads a file.',
  'other-origin': 'It leads to another site.',
  evaluate: 'It runs code in the page.',
  'stored-data': 'It reads data that the site has stored in your browser.',
};
