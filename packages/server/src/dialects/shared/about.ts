/** What the server is and how it was set up, as far as those who use it and those who administer it need to know. */
import type { ApprovalMode } from '@parlance/protocol';
import type { NodeState } from '../../core/api/index.ts';
import type { Accounts } from '../../http/accounts.ts';
import type { ApiKeys } from '../../http/api-keys.ts';
import type { Pairings } from '../../http/pairings.ts';
import type { DialectList } from './dialect-list.ts';
import type { PriceTable } from './prices.ts';
import type { Setup } from './setup.ts';

export type About = {
  readonly version: string;
  readonly auth: 'open' | 'required';
  /** what answers if neither session nor agent names a model */
  readonly provider: string;
  readonly model: string;
  readonly approval: ApprovalMode;
  /** commands run in one */
  readonly sandbox: boolean;
  /** where it listens, the default listener first; empty until it does */
  readonly doors: () => readonly { readonly dialect: string; readonly port: number }[];
  /** what is served, and at which WebSocket paths */
  readonly dialects: readonly { readonly name: string; readonly sockets: readonly string[] }[];
  /** the descriptions of the dialects; built on the first call */
  readonly dialectList: () => Promise<DialectList>;
  /** what the dialects add, by their own keys */
  readonly additions: () => Readonly<Record<string, unknown>>;
  /** the provider that answers for a model; null if it cannot be reached */
  readonly providerOf: (model: string) => string | null;
};

export type Door = {
  readonly address: string;
  readonly port: number;
  /** the dialect of an extra listener, or `all` */
  readonly dialect: string;
  /** how many there are now, by dialect */
  readonly sockets: Readonly<Record<string, number>>;
};

export type McpServerView = {
  readonly name: string;
  readonly kind: 'process' | 'address';
  readonly trusted: boolean;
  readonly state: 'starting' | 'ready' | 'away' | 'closed';
  readonly tools: readonly string[];
  readonly trouble: { readonly at: number; readonly message: string } | null;
  readonly output: readonly string[];
};

export type NodeView = NodeState & {
  /** it is the one that answers */
  readonly here: boolean;
};

/** What admins look after. */
export type Administration = {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly pairings: Pairings;
  readonly prices: PriceTable;
  readonly doors: () => readonly Door[];
  readonly nodes: () => Promise<readonly NodeView[]>;
  readonly mcpServers: () => readonly McpServerView[];
  readonly setup: Setup;
};
