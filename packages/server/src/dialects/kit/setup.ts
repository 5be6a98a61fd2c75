/** The setup that admins change while the server runs. */
import type { Json, JsonObject } from '@parlance/protocol';
import type { VendorList } from '@parlance/protocol/api';

/** The model that is used if neither session nor agent names one. */
export type ModelInUse = {
  readonly provider: string;
  readonly model: string;
  readonly address: string | null;
};

export type SetupView = {
  /** version of the stored settings; a change names the version it is based on */
  readonly version: number;
  /** why the stored settings are not in use; null if they are */
  readonly problem: string | null;
  readonly model: ModelInUse;
  /** flag, variable or file entry by setting; these take precedence over stored values */
  readonly given: Readonly<Record<string, string>>;
  /** stored values; secrets are left out or null */
  readonly stored: JsonObject;
  /** names of the stored secrets */
  readonly secrets: readonly string[];
  /** why a stored key is not sent to the address in use, by the name of the secret */
  readonly keyProblems: Readonly<Record<string, string>>;
};

export type SetupChange = {
  readonly version: number;
  /** new values by setting; null removes the stored value */
  readonly values: Readonly<Record<string, Json>>;
};

export type VendorQuestion = {
  readonly provider: string;
  readonly address?: string | undefined;
  readonly key?: string | undefined;
};

export type ProviderModels = {
  readonly provider: string;
  /** the vendor, or the host of another server */
  readonly label: string;
  /** `id` is for sessions and agents: the name, with the provider if the name alone means another one */
  readonly models: readonly { readonly id: string; readonly name: string }[];
  /** why there is no list; null if there is one */
  readonly problem: string | null;
};

export type RefusedOrigin = { readonly origin: string; readonly count: number; readonly at: number };

/** Ids of agents and domains that the config file defines. Stored ones with these ids are not in use. */
export type FixedIds = { readonly agents: readonly string[]; readonly domains: readonly string[] };

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
  models(question: VendorQuestion): Promise<{ readonly models: readonly string[]; readonly address: string }>;
  /** The lists of all vendors that have a key or an address; the one in use first. */
  listModels(): Promise<readonly ProviderModels[]>;
  /** All vendors with their keys, packages and known models. Asks nobody. */
  vendors(): VendorList;
  /** False if there is no such MCP server. */
  restartMcp(name: string): Promise<boolean>;
  /** Browser origins that were refused recently, latest first. */
  refusedOrigins(): readonly RefusedOrigin[];
};
