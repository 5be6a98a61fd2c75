/** Loads the operator's prompts and resources: modules named in the configuration. */
import { decodedUri, Fault, isObject, PromptPart, textPart } from '@parlance/protocol';
import { z } from 'zod';
import type {
  Completer,
  CustomChange,
  CustomContext,
  CustomModules,
  CustomPrompt,
  CustomResource,
} from '../../core/ports/custom-modules.ts';
import { Listeners } from '../../lib/listeners.ts';
import { unlessAborted } from '../../lib/unless-aborted.ts';
import { cutText } from '../cut.ts';
import { exportsOf, isToolError, problem } from './modules.ts';

/** Prompts and resources are read: they must be quick. */
const READ_MS = 60_000;
const MESSAGE_CHARACTERS = 4_000;

type Paths = { readonly prompts: readonly string[]; readonly resources: readonly string[] };

export type LoadedModules = CustomModules & { announce(change: CustomChange): void };

/** Throws a one-line error that names the file. */
export async function loadOffers({ prompts, resources }: Paths): Promise<LoadedModules> {
  const changes = new Listeners<[CustomChange]>();
  const announce = changes.notify;
  const unique = <Item>(items: readonly Item[], key: (item: Item) => string): readonly Item[] => {
    const seen = new Set<string>();
    for (const item of items) {
      if (seen.has(key(item))) throw new Error(`two modules offer ${key(item)}`);
      seen.add(key(item));
    }
    return items;
  };
  return {
    prompts: unique(
      await loaded('prompt', prompts, (one) => customPrompt(one, announce)),
      ({ name }) => name,
    ),
    resources: unique(
      await loaded('resource', resources, (one) => customResource(one, announce)),
      ({ uri }) => uri,
    ),
    onChange: changes.add,
    announce,
  };
}

async function loaded<Item>(
  kind: 'prompt' | 'resource',
  paths: readonly string[],
  read: (exported: unknown) => Item | z.ZodError,
): Promise<Item[]> {
  const items: Item[] = [];
  for (const path of paths) {
    const exports = await exportsOf(kind, path);
    if (exports.length === 0) throw problem(kind, path, `exports no ${kind}`);
    for (const exported of exports) {
      const item = read(exported);
      if (item instanceof z.ZodError) throw problem(kind, path, reasonOf(kind, exported, item));
      items.push(item);
    }
  }
  return items;
}

function reasonOf(kind: string, exported: unknown, { issues: [issue] }: z.ZodError): string {
  if (!isObject(exported)) return `exports something that is not a ${kind}`;
  return `has a ${kind} ${String(exported.name).slice(0, 64)} whose ${issue?.path.join('.')} ${issue?.message}`;
}

// Definitions

type Run = (...given: unknown[]) => unknown;
const fn = z.custom<Run>((value) => typeof value === 'function', 'must be a function');
const text = z.string('must be text').min(1, 'must not be empty').max(4_000, 'is too long');

const Suggestions = z.array(z.string());

const completer =
  (complete: Run): Completer =>
  async (value, others) =>
    Suggestions.parse(await complete(value, others));

const Prompt = z.object({
  name: text,
  title: text.optional(),
  description: text,
  arguments: z
    .array(
      z.object({
        name: text,
        description: text.optional(),
        required: z.boolean().default(false),
        complete: fn.transform(completer).optional(),
      }),
    )
    .default([]),
  run: fn,
});

const Messages = z.union([
  z.string().transform((only) => [{ role: 'user' as const, parts: [textPart(only)] }]),
  z.array(z.object({ role: z.enum(['user', 'assistant']), parts: z.array(PromptPart) })),
]);

type Announce = (change: CustomChange) => void;

function customPrompt(exported: unknown, announce: Announce): CustomPrompt | z.ZodError {
  const { data, error } = Prompt.safeParse(exported);
  if (error) return error;
  return {
    ...data,
    run: async (input, context) =>
      Messages.parse(await outputOf(data.name, () => data.run(input, { ...context, announce }), context)),
  };
}

const Resource = z.object({
  uri: text.refine((uri) => /^[a-z][a-z0-9+.-]*:/i.test(uri), 'must be an address'),
  name: text,
  title: text.optional(),
  description: text.optional(),
  mime: text.optional(),
  complete: z.record(z.string(), fn.transform(completer)).default({}),
  read: fn,
});

const Content = z.union([z.string(), z.instanceof(Uint8Array)]).nullish();

function customResource(exported: unknown, announce: Announce): CustomResource | z.ZodError {
  const { data, error } = Resource.safeParse(exported);
  if (error) return error;
  const names: string[] = [];
  const pattern = data.uri
    .split(/(\{\w+\})/)
    .map((piece) => {
      const name = /^\{(\w+)\}$/.exec(piece)?.[1];
      if (name === undefined) return RegExp.escape(piece);
      names.push(name);
      return '([^/]+)';
    })
    .join('');
  const form = new RegExp(`^${pattern}$`);
  return {
    ...data,
    isTemplate: names.length > 0,
    match: (uri) => {
      const values = form.exec(uri)?.slice(1);
      return values
        ? Object.fromEntries(
            names.map((name, at) => [name, decodedUri(values[at] ?? '') ?? values[at] ?? '']),
          )
        : null;
    },
    read: async (params, context) =>
      Content.parse(await outputOf(data.name, () => data.read(params, { ...context, announce }), context)) ??
      null,
  };
}

/** Ends with the signal of the request or after a minute, even if the function keeps running. */
async function outputOf(name: string, run: () => unknown, { signal }: CustomContext): Promise<unknown> {
  const timeout = AbortSignal.timeout(READ_MS);
  try {
    return await unlessAborted(Promise.try(run), AbortSignal.any([signal, timeout]));
  } catch (thrown) {
    if (timeout.aborted && !signal.aborted)
      throw new Fault('tool_failed', `${name} did not finish within ${READ_MS} ms and was stopped.`);
    if (isToolError(thrown)) throw new Fault('tool_failed', cutText(thrown.message, MESSAGE_CHARACTERS));
    throw thrown;
  }
}
