/** Information about the server, and its administration while it runs. */

import type { ApprovalMode } from '@parlance/protocol';
import type * as api from '@parlance/protocol/api';
import type { McpContents, McpSignIns, NodeState } from '../../core/index.ts';
import type { Accounts } from '../../http/accounts.ts';
import type { ApiKeys } from '../../http/api-keys.ts';
import type { Invitations } from '../../http/invitations.ts';
import type { Pairings } from '../../http/pairings.ts';
import type { InMilliseconds } from '../../lib/in-milliseconds.ts';
import type { Sent } from './endpoint.ts';

/** Public information about the server. */
export type About = {
  readonly version: string;
  readonly auth: 'open' | 'required';
  /** used if neither session nor agent names a model */
  readonly provider: string;
  readonly model: string;
  /** the vendors that a key can be entered for, in the order of the console */
  readonly vendors: api.Vendor[];
  readonly approval: ApprovalMode;
  /** commands run in a sandbox */
  readonly sandbox: boolean;
  /** the default listener first; empty until the server listens */
  readonly listeners: () => readonly { readonly dialect: string; readonly port: number }[];
  /** the served dialects with their WebSocket paths */
  readonly dialects: readonly { readonly name: string; readonly sockets: readonly string[] }[];
  /** the descriptions of the dialects; built on the first call */
  readonly dialectList: () => Promise<api.DialectList>;
  /** information that dialects add, by their own keys */
  readonly additions: () => Readonly<Record<string, unknown>>;
  /** the provider that answers for a model; null if it cannot be reached */
  readonly providerOf: (model: string) => string | null;
};

/** For admins. */
export type Administration = {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly invitations: Invitations;
  readonly pairings: Pairings;
  readonly prices: PriceTable;
  readonly listeners: () => readonly ListenerAddress[];
  readonly nodes: () => Promise<readonly NodeView[]>;
  readonly mcpServers: () => readonly McpServerView[];
  readonly mcpSignIns: McpSignIns & {
    /** What authorization servers may read about this server at `origin`. */
    clientDocument(origin: string): Sent<api.McpClientDocument>;
  };
  readonly mcpOffers: McpContents & { list(user: string): Promise<Sent<api.McpOffers>> };
  readonly skills: ServerSkills;
  readonly setup: Setup;
};

/** Skills of the operator, on this node. */
export interface ServerSkills {
  list(): Promise<api.ServerSkill[]>;
  /** Throws `not_found`. */
  read(name: string): Promise<api.ServerSkillText>;
  /** Whole or not at all. Replaces one in the data folder. Throws `invalid` with the reason. */
  add(skill: api.AddSkill): Promise<api.ServerSkill>;
  /** Throws `not_found` if it is not in the data folder. */
  remove(name: string): Promise<void>;
}

/** Prices of models, in US dollars per million tokens. */
export interface PriceTable {
  /** By the name of the model: those that an admin has set, else those of the catalogue. */
  list(): Promise<Readonly<Record<string, api.Price>>>;
  /** Null removes the price. Durable when it resolves. */
  set(model: string, price: api.Price | null): Promise<void>;
}

export type ListenerAddress = Sent<api.Listener>;

export type McpServerView = Omit<Sent<api.McpServer>, 'error'> & {
  readonly error: InMilliseconds<NonNullable<api.McpServer['error']>, 'at'> | null;
};

export type NodeView = NodeState & {
  /** the node that answers the request */
  readonly here: boolean;
};

/** `model` is used if neither session nor agent names one. */
export type SetupView = Sent<api.Settings>;
export type SetupChange = Sent<api.SettingsChange>;
export type VendorQuestion = Sent<api.ModelQuestion>;
export type ProviderModels = Sent<api.ProviderModels>;
export type RefusedOrigin = InMilliseconds<api.RefusedOrigin, 'at'>;
/** Ids of agents and domains that the config file defines. Stored ones with these ids are not in use. */
export type FixedIds = Sent<api.AgentSetup['fixed']>;

/** The setup that admins change while the server runs. */
export type Setup = {
  /** names of the settings that choose the model, with the keys and addresses of all vendors */
  readonly modelSettings: readonly string[];
  view(): SetupView;
  fixedIds(): FixedIds;
  /** Stores and applies the change. Throws `invalid`, or `busy` if another change came first. */
  change(change: SetupChange): Promise<SetupView>;
  /** Called after a change was applied here, also one of another node. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  /**
   * The list of the vendor, and the base URL that answered. Throws a `Fault` that explains what is wrong with
   * the key or address.
   */
  models(question: VendorQuestion): Promise<Sent<api.ModelListing>>;
  /** The lists of all vendors that have a key or an address; the one in use first. */
  listModels(): Promise<readonly ProviderModels[]>;
  /** All vendors with their keys, packages and known models. Asks nobody. */
  vendors(): api.VendorList;
  /** False if there is no such MCP server. */
  restartMcp(name: string): Promise<boolean>;
  /** Browser origins that were refused recently, latest first. */
  refusedOrigins(): readonly RefusedOrigin[];
};
