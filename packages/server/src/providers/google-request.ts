/** Converts a prompt to generateContent. https://ai.google.dev/api/generate-content */
import { isObject, type JsonObject, type Link, type PromptPart, type Sealed } from '@parlance/protocol';
import type { Prompt, PromptItem, ToolSpec } from '../core/ports/provider.ts';
import { googleGeneration, googleToolConfig } from './model-options.ts';
import { FOLLOW_INSTRUCTIONS, fileText, NO_WORDS, notShown, summaryText, systemText } from './part-text.ts';

export const GOOGLE = 'google';

/** Position of a signature in a run of text, in characters. */
export type SignedSpan = { readonly signature: string; readonly from: number; readonly to: number };

export type GoogleModel = {
  readonly name: string;
  readonly maxTokens: number | undefined;
  /** it returns its thoughts on request */
  readonly thinks: boolean;
  /** 3 and later: checks signatures of calls, and supports images in results */
  readonly signs: boolean;
  /** 2.5 and later: the vendor fetches images and files on the web */
  readonly fetches: boolean;
};

type Inline = { readonly inlineData: { readonly mimeType: string; readonly data: string } };
type FileDataPart = { readonly fileData: { readonly mimeType?: string; readonly fileUri: string } };
type TextPart = { readonly text: string; readonly thought?: true; readonly thoughtSignature?: string };
type FunctionCallPart = {
  readonly functionCall: { readonly id?: string; readonly name: string; readonly args: JsonObject };
  readonly thoughtSignature?: string;
};
type FunctionResponsePart = {
  readonly functionResponse: {
    readonly id?: string;
    readonly name: string;
    readonly response: JsonObject;
    readonly parts?: readonly Inline[];
  };
};
type VendorPart = Inline | FileDataPart | TextPart | FunctionCallPart | FunctionResponsePart;
type Content = { readonly role: 'user' | 'model'; readonly parts: readonly VendorPart[] };

/** `plain`: without thoughts and signatures, which the vendor may refuse although the prompt is valid. */
export function requestBody(prompt: Prompt, model: GoogleModel, plain: boolean): object {
  const items = plain ? prompt.items.flatMap(withoutSeal) : prompt.items;
  const thinkingConfig =
    prompt.task === 'chat' && model.thinks && !plain ? { includeThoughts: true } : undefined;
  const generationConfig = {
    ...(model.maxTokens === undefined ? {} : { maxOutputTokens: model.maxTokens }),
    ...(thinkingConfig ? { thinkingConfig } : {}),
    ...googleGeneration(prompt),
  };
  return {
    ...(prompt.instructions === '' ? {} : { systemInstruction: { parts: [{ text: prompt.instructions }] } }),
    contents: contentsOf(items, model),
    ...(prompt.tools.length > 0 ? { tools: [{ functionDeclarations: prompt.tools.map(declared) }] } : {}),
    ...googleToolConfig(prompt),
    ...(Object.keys(generationConfig).length > 0 ? { generationConfig } : {}),
  };
}

const withoutSeal = (item: PromptItem): PromptItem[] =>
  item.kind === 'reasoning' ? [] : item.kind === 'call' ? [{ ...item, sealed: undefined }] : [item];

function declared({ name, description, parameters: { $schema: _, ...schema } }: ToolSpec): object {
  return { name, description, parametersJsonSchema: schema };
}

/** For calls of other vendors. https://ai.google.dev/gemini-api/docs/thought-signatures */
const FOREIGN_CALL = 'skip_thought_signature_validator';

/** Results are contents of their own, directly after the calls: one per call. */
type Group = { readonly kind: 'model' | 'results' | 'user'; readonly parts: VendorPart[] };

function contentsOf(items: readonly PromptItem[], model: GoogleModel): Content[] {
  const groups: Group[] = [];
  const calls = new Map<string, FunctionCallPart['functionCall']>();
  for (const [at, item] of items.entries()) {
    switch (item.kind) {
      case 'user': {
        const parts = userParts(item.parts, model);
        add(groups, 'user', parts.length > 0 ? parts : [{ text: NO_WORDS }]);
        break;
      }
      case 'summary':
        add(groups, 'user', [{ text: summaryText(item.text) }]);
        break;
      case 'system':
        add(groups, 'user', [{ text: systemText(item.text) }]);
        break;
      case 'text':
        add(groups, 'model', signedText(item.text, spansAfter(items[at + 1])));
        break;
      case 'reasoning':
        add(groups, 'model', thoughtParts(item.text, item.sealed));
        if (!(item.text === '' && items[at - 1]?.kind === 'text'))
          add(groups, 'model', signedText('', spansOf(item)));
        break;
      case 'call': {
        const called = calledPart(item);
        calls.set(item.call, called.functionCall);
        add(groups, 'model', [called]);
        break;
      }
      case 'result': {
        const call = calls.get(item.call);
        if (call) answer(groups, { call, result: item }, model.signs);
        break;
      }
    }
  }
  const contents = groups.map(
    ({ kind, parts }): Content => ({
      role: kind === 'model' ? 'model' : 'user',
      parts: kind === 'model' ? callsLast(parts, model.signs) : parts,
    }),
  );
  if (contents[0]?.role === 'model') contents.unshift({ role: 'user', parts: [{ text: NO_WORDS }] });
  if (contents.at(-1)?.role !== 'user')
    contents.push({ role: 'user', parts: [{ text: FOLLOW_INSTRUCTIONS }] });
  return contents;
}

function add(groups: Group[], kind: Group['kind'], parts: readonly VendorPart[]): void {
  const last = groups.at(-1);
  if (parts.length === 0) return;
  if (last?.kind === kind) last.parts.push(...parts);
  else groups.push({ kind, parts: [...parts] });
}

/** Text between a call and its result is moved after the result. */
function answer(
  groups: Group[],
  {
    call,
    result,
  }: { call: FunctionCallPart['functionCall']; result: Extract<PromptItem, { kind: 'result' }> },
  takesImages: boolean,
): void {
  const { id, name } = call;
  const { parts, failed } = result;
  const said = inWords(parts);
  const images = said.filter((part) => 'inlineData' in part);
  const text = said.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');
  const functionResponse: FunctionResponsePart['functionResponse'] = {
    ...(id === undefined ? {} : { id }),
    name,
    response: failed ? { error: text } : { output: text },
    ...(takesImages && images.length > 0 ? { parts: images } : {}),
  };
  let after = groups.length;
  while (groups[after - 1]?.kind === 'user') after--;
  const before = groups[after - 1];
  if (before?.kind === 'results') before.parts.push({ functionResponse });
  else groups.splice(after, 0, { kind: 'results', parts: [{ functionResponse }] });
  if (!takesImages && images.length > 0) add(groups, 'user', [{ text: `From ${name}:` }, ...images]);
}

function calledPart({ tool, input, sealed }: Extract<PromptItem, { kind: 'call' }>): FunctionCallPart {
  const { id, signature } = ownData(sealed);
  return {
    functionCall: { ...(typeof id === 'string' ? { id } : {}), name: tool, args: input },
    ...(typeof signature === 'string' ? { thoughtSignature: signature } : {}),
  };
}

function callsLast(parts: readonly VendorPart[], signs: boolean): VendorPart[] {
  const calls = parts.filter((part) => 'functionCall' in part);
  const [first, ...others] = calls;
  const signed =
    signs && first && !first.thoughtSignature
      ? [{ ...first, thoughtSignature: FOREIGN_CALL }, ...others]
      : calls;
  return [...parts.filter((part) => !('functionCall' in part)), ...signed];
}

/** Parts sealed by another vendor are left out. */
const ownData = (sealed: Sealed | undefined): Record<string, unknown> =>
  sealed?.provider === GOOGLE && isObject(sealed.data) ? sealed.data : {};

function thoughtParts(text: string, sealed: Sealed | undefined): TextPart[] {
  const { signature } = ownData(sealed);
  return typeof signature === 'string' ? [{ text, thought: true, thoughtSignature: signature }] : [];
}

function spansOf(item: PromptItem | undefined): readonly SignedSpan[] {
  const { spans } = ownData(item?.kind === 'reasoning' ? item.sealed : undefined);
  return Array.isArray(spans) ? spans : [];
}

/** Signatures apply to the text directly before them; after anything else they are dropped. */
const spansAfter = (item: PromptItem | undefined): readonly SignedSpan[] =>
  item?.kind === 'reasoning' && item.text === '' ? spansOf(item) : [];

/** The original parts, each with its signature. */
function signedText(text: string, spans: readonly SignedSpan[]): TextPart[] {
  const parts: TextPart[] = [];
  let written = 0;
  for (const { signature, from, to } of spans) {
    if (from > written) parts.push({ text: text.slice(written, from) });
    parts.push({ text: text.slice(from, to), thoughtSignature: signature });
    written = to;
  }
  return written < text.length ? [...parts, { text: text.slice(written) }] : parts;
}

const IMAGES = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'];

const DOCUMENTS = /^(?:application\/(?:pdf|json)|text\/(?:plain|html|css|csv|xml))$/;

/** https://ai.google.dev/gemini-api/docs/file-input-methods */
export function acceptsLink({ fetches }: Pick<GoogleModel, 'fetches'>, { kind, url, mime }: Link): boolean {
  if (!fetches || !url.startsWith('https:')) return false;
  return mime === undefined || (kind === 'image' ? IMAGES.includes(mime) : DOCUMENTS.test(mime));
}

const userParts = (parts: readonly PromptPart[], model: GoogleModel): (TextPart | Inline | FileDataPart)[] =>
  parts.flatMap((part): (TextPart | Inline | FileDataPart)[] => {
    const link = part.type === 'text' ? part.link : undefined;
    if (!link || !acceptsLink(model, link)) return inWords([part]);
    const { url: fileUri, mime } = link;
    return [{ fileData: { ...(mime !== undefined && { mimeType: mime }), fileUri } }];
  });

function inWords(parts: readonly PromptPart[]): (TextPart | Inline)[] {
  return parts.flatMap((part): (TextPart | Inline)[] => {
    if (part.type === 'text') return part.text === '' ? [] : [{ text: part.text }];
    const inline: Inline = { inlineData: { mimeType: part.mime, data: part.data } };
    if (part.type === 'file') {
      return [part.mime === 'application/pdf' ? inline : { text: fileText(part) ?? notShown(part) }];
    }
    return [
      IMAGES.includes(part.mime) ? inline : { text: `[An image of the type ${part.mime} cannot be shown.]` },
    ];
  });
}
