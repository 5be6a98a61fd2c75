import type { Json, JsonObject, PromptPart } from '@parlance/protocol';
import type { Prompt } from '../../../core/ports/provider.ts';
import { google } from '../../../providers/google.ts';
import type { Enrolment, Reading } from './enrolment.ts';
import { at, list, text } from './loose-json.ts';

export const GOOGLE: Enrolment = {
  name: 'google',
  file: 'google.ts',
  folders: ['gemini', 'gemini-cache'],
  api: google,
  read,
  prompt,
  shape,
  lacks: { 'arguments-in-pieces': 'arguments come whole' },
  wholeArguments: 'arguments come whole',
};

const STOPS: Record<string, Reading['stop']> = { STOP: 'done', MAX_TOKENS: 'length', SAFETY: 'refused' };

function read(body: string): Reading {
  const chunks = body
    .split('data: ')
    .slice(1)
    .map((chunk) => JSON.parse(chunk) as JsonObject);
  const parts = chunks.flatMap((chunk) => list(at(chunk, 'candidates', 0, 'content', 'parts')));
  const said = parts.filter((part) => at(part, 'functionCall') === undefined);
  const calls = parts.filter((part) => at(part, 'functionCall') !== undefined);
  const stop = STOPS[text(at(chunks.at(-1), 'candidates', 0, 'finishReason'))];
  if (!stop) throw new Error('an unknown finishReason');
  const usage = at(chunks.at(-1), 'usageMetadata');
  const counted = (field: string) => Number(at(usage, field) ?? 0);
  const words = (thought: boolean) =>
    said.map((part) => ((at(part, 'thought') === true) === thought ? text(at(part, 'text')) : '')).join('');
  return {
    text: words(false),
    reasoning: words(true),
    calls: calls.map((part) => ({
      call: text(at(part, 'functionCall', 'id')),
      tool: text(at(part, 'functionCall', 'name')),
      input: at(part, 'functionCall', 'args') as JsonObject,
    })),
    usage: {
      inputTokens: counted('promptTokenCount'),
      outputTokens: counted('totalTokenCount') - counted('promptTokenCount'),
      cachedTokens: at(usage, 'cachedContentTokenCount') as number | undefined,
      reasoningTokens: at(usage, 'thoughtsTokenCount') as number | undefined,
    },
    stop: calls.length > 0 ? 'calls' : stop,
    sealed: said.filter((part) => at(part, 'thoughtSignature')).length,
  };
}

function prompt(body: JsonObject): Prompt {
  return {
    task: 'chat',
    instructions: text(at(body, 'systemInstruction', 'parts', 0, 'text')),
    items: list(body.contents).map((content) => ({
      kind: 'user',
      parts: list(at(content, 'parts')).map(part),
    })),
    tools: list(at(body, 'tools', 0, 'functionDeclarations')).map((tool) => ({
      name: text(at(tool, 'name')),
      description: text(at(tool, 'description')),
      parameters: at(tool, 'parameters') as JsonObject,
    })),
  };
}

const part = (value: Json): PromptPart =>
  at(value, 'inlineData')
    ? {
        type: 'image',
        mime: text(at(value, 'inlineData', 'mimeType')),
        data: text(at(value, 'inlineData', 'data')),
      }
    : { type: 'text', text: text(at(value, 'text')) };

/** A declaration has its schema in one of two fields; we use the one that supports all of JSON Schema. */
function shape(body: JsonObject): unknown {
  return {
    system: body.systemInstruction,
    contents: body.contents,
    tools: list(at(body, 'tools', 0, 'functionDeclarations')).map((tool) => ({
      name: at(tool, 'name'),
      description: at(tool, 'description'),
      schema: at(tool, 'parametersJsonSchema') ?? at(tool, 'parameters'),
    })),
  };
}
