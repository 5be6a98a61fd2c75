/** What the operator's modules offer to clients, beside tools. */
import type { JsonObject, PrincipalId, PromptPart } from '@parlance/protocol';

/** A list that has changed, or one resource. */
export type CustomChange = 'tools' | 'prompts' | 'resources' | { readonly resource: string };

/** For the modules' functions. */
export type CustomContext = {
  readonly signal: AbortSignal;
  readonly user: PrincipalId;
  readonly client: {
    readonly capabilities: JsonObject;
    request(name: string, method: string, params?: JsonObject): Promise<JsonObject>;
  } | null;
};

export type Completer = (
  value: string,
  others: Readonly<Record<string, string>>,
) => Promise<readonly string[]>;

export type CustomPrompt = {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string | undefined;
    readonly required: boolean;
    readonly complete?: Completer | undefined;
  }[];
  /** Throws a `Fault` whose message may be shown. */
  run(
    input: Readonly<Record<string, string>>,
    context: CustomContext,
  ): Promise<readonly { readonly role: 'user' | 'assistant'; readonly parts: readonly PromptPart[] }[]>;
};

export type CustomResource = {
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mime?: string | undefined;
  readonly complete: Readonly<Record<string, Completer>>;
  /** The values of the template's parameters; null if the address is another. */
  match(uri: string): Readonly<Record<string, string>> | null;
  /** Null if there is no such resource. Throws a `Fault` whose message may be shown. */
  read(params: Readonly<Record<string, string>>, context: CustomContext): Promise<string | Uint8Array | null>;
};

export type CustomModules = {
  readonly prompts: readonly CustomPrompt[];
  readonly resources: readonly CustomResource[];
  /** Calls the listener when a module announces a change. Returns a function that stops it. */
  onChange(listener: (change: CustomChange) => void): () => void;
};
