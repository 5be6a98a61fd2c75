/**
 * Vendors that a package of the AI SDK asks: maps prompts and streams of its language models, versions 3 and 4 of the
 * interface. Loaded when such a vendor is used for the first time, and so is the package. Links are sent as text.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { isObject, type Json, type JsonObject, type PromptPart, type Sealed } from '@parlance/protocol';
import type { Prompt } from '../core/ports/provider.ts';
import { callInput } from './call-input.ts';
import {
  type ApiFault,
  CANCELLED,
  ENDLESS,
  MALFORMED_EVENT,
  REDIRECTED,
  refusedKey,
  refusedRequest,
  rejected,
  STREAM_ENDED_EARLY,
} from './faults.ts';
import { type Batch, MAX_EVENT_LENGTH, TimedAttempt, unreachable } from './http-provider.ts';
import { type ApiEvent, failed } from './model-api.ts';
import { refusedFault, streamFault } from './openai-faults.ts';
import { findPackage, loadPackage } from './packages.ts';
import { FOLLOW_INSTRUCTIONS, fileText, notShown, shortId, summaryText, systemText } from './part-text.ts';
import { retryAfter } from './retry.ts';
import { vendorText } from './vendor-text.ts';

export type AiSdkOptions = {
  /** npm package */
  readonly package: string;
  /** `node_modules` folders that it may be in */
  readonly folders: readonly string[];
  /** the command that installs it */
  readonly install: string;
  /** name of the vendor, for messages */
  readonly label: string;
  readonly key: string;
  readonly keyName?: string | undefined;
  readonly isKeyWithheld: boolean;
  /** the variable of the key */
  readonly variable: string;
  /** undefined: the vendor's own */
  readonly baseUrl: string | undefined;
  /** without a key, the package finds credentials in the environment */
  readonly findsCredentials: boolean;
  /** variables without which the vendor's address is not known */
  readonly missingVariables: readonly string[];
  readonly model: string;
  readonly requestOptions?: LanguageModelV4CallOptions['providerOptions'];
};

/** Parts of both versions that are read here are the same, but for `interrupted`. */
type Part = LanguageModelV4StreamPart;
type Metadata = { readonly [key: string]: JsonObject };

/** A reason for the user that is not an error of the vendor. */
class Refusal extends Error {}

export class AiSdkAttempt extends TimedAttempt {
  host: string | undefined;
  #endless = false;
  /** the package passes on an error of the vendor */
  #isReported = false;
  #reader: { read(): Promise<{ readonly value?: Part | undefined }> } | null = null;
  /** bytes since the last part */
  #silentBytes = 0;
  /** characters of the arguments of all calls */
  #characters = 0;
  /** ids of calls by their position, with the tool */
  readonly #streamed: { readonly id: string; readonly tool: string }[] = [];
  readonly #calls: ApiEvent[] = [];
  readonly #thoughts = new Map<string, Metadata>();

  constructor(
    private readonly vendor: AiSdkOptions,
    ...given: ConstructorParameters<typeof TimedAttempt>
  ) {
    super(...given);
  }

  protected async ask(prompt: Prompt): Promise<Batch> {
    const model = await this.#model();
    const { stream } = await model.doStream({
      ...callOptions(prompt, model.specificationVersion, this.vendor),
      abortSignal: this.stop.signal,
    });
    this.#reader = stream.getReader();
    this.answered();
    return [];
  }

  async next(): Promise<Batch | null> {
    try {
      while (this.#reader) {
        const { value: part } = await this.#reader.read();
        if (this.signal.aborted) return this.over(failed(CANCELLED));
        this.#silentBytes = 0;
        this.silence?.received();
        this.silence?.said();
        const events = part ? this.#read(part) : failed(STREAM_ENDED_EARLY);
        const [first] = events;
        const last = events.at(-1)?.type;
        if (last === 'ended' || last === 'failed') return this.over(events);
        if (!first) continue;
        const isText = first.type === 'text' || first.type === 'reasoning';
        if (isText && this.take?.(first.type, first.text)) continue;
        return events;
      }
      return null;
    } catch (thrown) {
      return this.over(failed(this.reason(thrown)));
    }
  }

  /** The stream of the package is of no more use. */
  protected release(): void {
    if (!this.#reader) return;
    this.#reader = null;
    this.stop.abort();
  }

  async #model(): Promise<LanguageModelV4> {
    const { vendor } = this;
    const { label, key, baseUrl, findsCredentials, model, missingVariables } = vendor;
    const found = findPackage(vendor.package, vendor.folders);
    if (!found) throw new Refusal(`${label} needs the package ${vendor.package}: ${vendor.install}`);
    if (found.problem !== null)
      throw new Refusal(`The package ${vendor.package} cannot be loaded, because ${found.problem}`);
    if (missingVariables.length > 0)
      throw new Refusal(
        `${label} needs ${missingVariables.join(' and ')}: set it, or the address of the model`,
      );
    const module = Object.entries(await loadPackage(found));
    const create: unknown = module.find(([name]) => /^create[A-Z]/.test(name))?.[1];
    const made: unknown =
      typeof create === 'function'
        ? create({
            // The package would look for a key of its own.
            ...(key || !findsCredentials ? { apiKey: key || 'none' } : {}),
            ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
            fetch: this.#fetch,
          }).languageModel(model)
        : null;
    const version = isObject(made) ? made.specificationVersion : undefined;
    if (version !== 'v3' && version !== 'v4')
      throw new Refusal(
        `Version ${found.version} of the package ${vendor.package} is not supported: install the newest one`,
      );
    return made as LanguageModelV4;
  }

  /** Redirects are not followed: they could carry the key to another host. */
  readonly #fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    this.host = URL.parse(input instanceof Request ? input.url : String(input))?.host;
    const response = await fetch(input, { ...init, redirect: 'manual', timeout: false });
    if (!response.ok || !response.body) return response;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        this.silence?.received();
        this.#silentBytes += chunk.length;
        if (this.#silentBytes > MAX_EVENT_LENGTH) {
          this.#endless = true;
          this.stop.abort();
        }
        controller.enqueue(chunk);
      },
    });
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(counted), { status, headers });
  };

  #read(part: Part): Batch {
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? [] : [{ type: 'text', text: part.delta }];
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end': {
        const { id, type, providerMetadata } = part;
        const metadata = merged(this.#thoughts.get(id) ?? {}, providerMetadata);
        this.#thoughts.set(id, metadata);
        if (type === 'reasoning-end') return [{ type: 'sealed', sealed: this.#sealed(metadata) }];
        return type === 'reasoning-delta' && part.delta !== ''
          ? [{ type: 'reasoning', text: part.delta }]
          : [];
      }
      case 'tool-input-start':
        if (part.providerExecuted) return [];
        this.#streamed.push({ id: part.id, tool: part.toolName });
        return this.#argumentsOf(part.id, '');
      case 'tool-input-delta':
        this.#characters += part.delta.length;
        return this.#argumentsOf(part.id, part.delta);
      case 'tool-call': {
        if (part.providerExecuted) return [];
        if (!this.#streamed.some(({ id }) => id === part.toolCallId)) this.#characters += part.input.length;
        this.#calls.push({
          type: 'call',
          call: part.toolCallId,
          tool: part.toolName,
          ...callInput(part.input),
          ...(part.providerMetadata && { sealed: this.#sealed(merged({}, part.providerMetadata)) }),
        });
        return this.#beyond() ?? [];
      }
      case 'error':
        this.#isReported = true;
        return failed(this.reason(part.error));
      case 'finish':
        return this.#ending(part);
      default:
        // Sources, files, metadata and results of the vendor's own tools, which are not asked for.
        return [];
    }
  }

  #argumentsOf(call: string, text: string): Batch {
    const index = this.#streamed.findIndex(({ id }) => id === call);
    const tool = this.#streamed[index]?.tool;
    if (tool === undefined) return [];
    return this.#beyond() ?? [{ type: 'arguments', index, call, tool, text }];
  }

  #beyond(): Batch | null {
    const calls = Math.max(this.#calls.length, this.#streamed.length);
    const fault = this.beyond({ calls, characters: this.#characters });
    return fault && failed(fault);
  }

  #ending({ finishReason: { unified, raw }, usage }: Extract<Part, { type: 'finish' }>): Batch {
    // Without a reason of the vendor, its stream was cut off.
    if (unified === 'interrupted' || (unified === 'other' && raw === undefined))
      return failed(STREAM_ENDED_EARLY);
    if (unified === 'error') return failed(streamFault(this.#addressed(), null));
    const { inputTokens, outputTokens } = usage;
    return [
      ...this.#calls,
      {
        type: 'ended',
        usage: {
          inputTokens: inputTokens.total ?? 0,
          outputTokens: outputTokens.total ?? 0,
          cachedTokens: inputTokens.cacheRead,
          reasoningTokens: outputTokens.reasoning,
        },
        stop:
          unified === 'content-filter'
            ? 'refused'
            : unified === 'length'
              ? 'length'
              : this.#calls.length > 0
                ? 'calls'
                : 'done',
      },
    ];
  }

  #sealed(metadata: Metadata): Sealed {
    return { provider: SEALER, data: { package: this.vendor.package, model: this.vendor.model, metadata } };
  }

  #addressed() {
    const { label, key, keyName, isKeyWithheld, variable, model } = this.vendor;
    return { host: label, key, keyName: keyName ?? variable, isKeyWithheld, variable, model };
  }

  protected faultOf(thrown: unknown): ApiFault {
    if (this.#endless) return ENDLESS;
    if (thrown instanceof Refusal) return rejected(`${thrown.message}.`);
    const { name, statusCode: status, responseBody, responseHeaders, message } = errorIn(thrown);
    if (status !== undefined && status !== 200) {
      if (status >= 300 && status < 400) return REDIRECTED;
      const retryAfterMs = retryAfter(new Headers(responseHeaders), Date.now());
      return {
        ...refusedFault(this.#addressed(), status, responseBody || message),
        ...(status >= 400 && { vendorStatus: status }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      };
    }
    const { label: vendor, key } = this.vendor;
    const text = vendorText(message, key);
    if (name === 'AI_LoadAPIKeyError') {
      const { variable, isKeyWithheld } = this.vendor;
      return refusedKey({ name: vendor, variable }, { key, isKeyWithheld }, text);
    }
    if (/^AI_(LoadSetting|UnsupportedFunctionality|InvalidPrompt|InvalidArgument|NoSuchModel)/.test(name))
      return refusedRequest(vendor, text);
    if (/^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody)/.test(name) || status === 200)
      return MALFORMED_EVENT;
    if (this.#isReported && !(thrown instanceof Error)) return streamFault(this.#addressed(), thrown);
    const code = codeIn(thrown);
    return code === null && thrown instanceof TypeError ? this.bug(thrown) : unreachable(code);
  }
}

const SEALER = 'ai-sdk';

/** Each package has its own copy of the error classes. */
function errorIn(thrown: unknown) {
  const error = isObject(thrown) ? thrown : {};
  return {
    name: String(error.name ?? ''),
    message: thrown instanceof Error ? thrown.message : '',
    statusCode: typeof error.statusCode === 'number' ? error.statusCode : undefined,
    responseBody: typeof error.responseBody === 'string' ? error.responseBody : undefined,
    responseHeaders: isObject(error.responseHeaders)
      ? (error.responseHeaders as Record<string, string>)
      : undefined,
  };
}

/** Only the error code of the system: its message contains the address. */
function codeIn(thrown: unknown): string | null {
  for (let error = thrown; isObject(error); error = error.cause)
    if (typeof error.code === 'string') return error.code;
  return null;
}

const merged = (before: Metadata, added: unknown): Metadata => {
  const next: Record<string, JsonObject> = { ...before };
  for (const [name, values] of Object.entries(isObject(added) ? added : {}))
    if (isObject(values)) next[name] = { ...next[name], ...(values as JsonObject) };
  return next;
};

// Converts a prompt.

type Version = LanguageModelV4['specificationVersion'] | 'v3';
type UserPart = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number];
type Messages = LanguageModelV4CallOptions['prompt'];

function callOptions(prompt: Prompt, version: Version, vendor: AiSdkOptions): LanguageModelV4CallOptions {
  const { options = {}, tools } = prompt;
  const { temperature, topP, maxOutputTokens, stop, responseFormat, reasoningEffort, toolChoice } = options;
  const fields = {
    prompt: messagesOf(prompt, version, vendor),
    temperature,
    topP,
    maxOutputTokens,
    stopSequences: stop,
    responseFormat:
      responseFormat?.type === 'json_schema'
        ? { type: 'json' as const, schema: responseFormat.schema, name: responseFormat.name }
        : responseFormat && { type: responseFormat.type },
    reasoning: version === 'v4' ? reasoningEffort : undefined,
    tools:
      tools.length === 0
        ? undefined
        : tools.map(({ name, description, parameters }) => ({
            type: 'function' as const,
            name,
            description,
            inputSchema: parameters,
          })),
    toolChoice:
      tools.length === 0 || toolChoice === undefined
        ? undefined
        : typeof toolChoice === 'object'
          ? { type: 'tool' as const, toolName: toolChoice.tool }
          : { type: toolChoice },
    providerOptions: vendor.requestOptions,
  };
  // Packages pass on fields that are undefined.
  for (const key of Object.keys(fields) as (keyof typeof fields)[])
    if (fields[key] === undefined) delete (fields as Partial<typeof fields>)[key];
  return fields;
}

/**
 * Text and calls of one answer are one message, and so are consecutive inputs and results. Not every package sends the
 * images of a result, so they follow as an input after the last result.
 */
function messagesOf({ instructions, items }: Prompt, version: Version, vendor: AiSdkOptions): Messages {
  const messages: Messages = instructions ? [{ role: 'system', content: instructions }] : [];
  const tools = new Map<string, string>();
  let pictures: UserPart[] = [];
  const flush = () => {
    if (pictures.length > 0) messages.push({ role: 'user', content: pictures });
    pictures = [];
  };
  const say = (parts: UserPart[]) => {
    flush();
    const last = messages.at(-1);
    if (last?.role === 'user') last.content.push(...parts);
    else messages.push({ role: 'user', content: parts });
  };
  const assistant = () => {
    flush();
    const last = messages.at(-1);
    if (last?.role === 'assistant') return last;
    const fresh: Extract<LanguageModelV4Message, { role: 'assistant' }> = { role: 'assistant', content: [] };
    messages.push(fresh);
    return fresh;
  };
  for (const item of items) {
    switch (item.kind) {
      case 'user':
        say(item.parts.map((part) => userPart(part, version)));
        break;
      case 'summary':
        say([{ type: 'text', text: summaryText(item.text) }]);
        break;
      case 'system':
        // Most vendors refuse it after the beginning.
        say([{ type: 'text', text: systemText(item.text) }]);
        break;
      case 'text':
        assistant().content.push({ type: 'text', text: item.text });
        break;
      case 'reasoning': {
        const metadata = metadataIn(item.sealed, vendor);
        if (metadata) assistant().content.push({ type: 'reasoning', text: item.text, ...metadata });
        break;
      }
      case 'call':
        tools.set(item.call, item.tool);
        assistant().content.push({
          type: 'tool-call',
          toolCallId: callId(item.call, vendor),
          toolName: item.tool,
          input: item.input,
          ...metadataIn(item.sealed, vendor),
        });
        break;
      case 'result': {
        const parts = item.parts.map((part) => userPart(part, version));
        const images = parts.filter((part) => part.type === 'file');
        const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
        pictures.push(...images);
        const result: LanguageModelV4ToolResultPart = {
          type: 'tool-result',
          toolCallId: callId(item.call, vendor),
          toolName: tools.get(item.call) ?? '',
          output: {
            type: item.failed ? 'error-text' : 'text',
            value: text || (images.length > 0 ? 'The image follows.' : '(no output)'),
          },
        };
        const last = messages.at(-1);
        if (last?.role === 'tool') last.content.push(result);
        else messages.push({ role: 'tool', content: [result] });
        break;
      }
    }
  }
  flush();
  if (!messages.some(({ role }) => role !== 'system')) say([{ type: 'text', text: FOLLOW_INSTRUCTIONS }]);
  return messages;
}

function userPart(part: PromptPart, version: Version): UserPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'file') return { type: 'text', text: fileText(part) ?? notShown(part) };
  const { mime: mediaType, data } = part;
  if (version === 'v4') return { type: 'file', mediaType, data: { type: 'data', data } };
  return { type: 'file', mediaType, data } as unknown as UserPart;
}

/** Data of the same package and model is sent back. Null: the reasoning is of another one, and is left out. */
function metadataIn(sealed: Sealed | undefined, vendor: AiSdkOptions) {
  if (sealed?.provider !== SEALER || !isObject(sealed.data)) return null;
  const { package: name, model, metadata } = sealed.data;
  if (name !== vendor.package || model !== vendor.model || !isObject(metadata)) return null;
  return Object.keys(metadata).length === 0
    ? {}
    : { providerOptions: metadata as Record<string, Record<string, Json>> };
}

/** Mistral refuses ids that do not have nine letters or digits, such as those of other vendors. */
const callId = (id: string, vendor: AiSdkOptions): string =>
  vendor.package !== '@ai-sdk/mistral'
    ? shortId(id, 40)
    : /^[a-zA-Z0-9]{9}$/.test(id)
      ? id
      : Bun.hash(id).toString(36).padStart(9, '0').slice(0, 9);
