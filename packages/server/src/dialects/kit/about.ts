/** Public information about the server and its setup, for users and admins. */
import type { ApprovalMode } from '@parlance/protocol';
import type { DialectList, Vendor } from '@parlance/protocol/api';
import type { NodeState } from '../../core/index.ts';
import type { Accounts } from '../../http/accounts.ts';
import type { ApiKeys } from '../../http/api-keys.ts';
import type { Pairings } from '../../http/pairings.ts';
import type { PriceTable } from './prices.ts';
import type { Setup } from './setup.ts';

export type About = {
  readonly version: string;
  readonly auth: 'open' | 'required';
  /** used if neither session nor agent names a model */
  readonly provider: string;
  readonly model: string;
  /** the vendors that a key can be entered for, in the order of the console */
  readonly vendors: Vendor[];
  readonly approval: ApprovalMode;
  /** commands run in a sandbox */
  readonly sandbox: boolean;
  /** the default listener first; empty until the server listens */
  readonly listeners: () => readonly { readonly dialect: string; readonly port: number }[];
  /** the served dialects with their WebSocket paths */
  readonly dialects: readonly { readonly name: string; readonly sockets: readonly string[] }[];
  /** the descriptions of the dialects; built on the first call */
  readonly dialectList: () => Promise<DialectList>;
  /** information that dialects add, by their own keys */
  readonly additions: () => Readonly<Record<string, unknown>>;
  /** the provider that answers for a model; null if it cannot be reached */
  readonly providerOf: (model: string) => string | null;
};

export type ListenerAddress = {
  readonly address: string;
  readonly port: number;
  /** the dialect of an extra listener, or `all` */
  readonly dialect: string;
  /** open sockets, by dialect */
  readonly sockets: Readonly<Record<string, number>>;
  /** why a stored listener is not open */
  readonly problem: string | null;
};

export type McpServerView = {
  readonly name: string;
  readonly kind: 'process' | 'address';
  readonly trusted: boolean;
  readonly state: 'starting' | 'ready' | 'away' | 'closed';
  readonly tools: readonly string[];
  readonly error: { readonly at: number; readonly message: string } | null;
  readonly output: readonly string[];
};

export type NodeView = NodeState & {
  /** the node that answers the request */
  readonly here: boolean;
};

/** The administration interface. */
export type Administration = {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly pairings: Pairings;
  readonly prices: PriceTable;
  readonly listeners: () => readonly ListenerAddress[];
  readonly nodes: () => Promise<readonly NodeView[]>;
  readonly mcpServers: () => readonly McpServerView[];
  readonly setup: Setup;
};
