import type { Json, JsonObject, PromptPart } from '@parlance/protocol';
import type { Prompt, PromptItem } from '../../../core/ports/provider.ts';
import { openaiResponses } from '../../../providers/openai-responses.ts';
import type { Enrolment, Reading } from './enrolment.ts';
import { at, list, text } from './loose-json.ts';

export const OPENAI_RESPONSES: Enrolment = {
  name: 'openai-responses',
  file: 'openai-responses.ts',
  folders: ['openai-responses', 'openai-responses-cache'],
  api: openaiResponses,
  read,
  prompt,
  shape,
};

/** Only from the last event, which repeats the whole answer. */
function read(body: string): Reading {
  const line = body.split('\n').findLast((line) => line.startsWith('data: {'));
  const response = at(JSON.parse((line ?? '').slice('data: '.length)), 'response');
  const output = list(at(response, 'output'));
  const calls = output.filter((item) => at(item, 'type') === 'function_call');
  const reasoning = output.filter((item) => at(item, 'type') === 'reasoning');
  const usage = at(response, 'usage');
  const cut = at(response, 'incomplete_details', 'reason') === 'max_output_tokens';
  return {
    text: output.flatMap((item) => list(at(item, 'content')).map((part) => text(at(part, 'text')))).join(''),
    reasoning: reasoning
      .flatMap((item) => list(at(item, 'summary')).map((part) => text(at(part, 'text'))))
      .join('\n\n'),
    calls: calls.map((item) => ({
      call: text(at(item, 'call_id')),
      tool: text(at(item, 'name')),
      input: JSON.parse(text(at(item, 'arguments'))),
    })),
    usage: {
      inputTokens: Number(at(usage, 'input_tokens')),
      outputTokens: Number(at(usage, 'output_tokens')),
      cachedTokens: Number(at(usage, 'input_tokens_details', 'cached_tokens')),
      reasoningTokens: Number(at(usage, 'output_tokens_details', 'reasoning_tokens')),
    },
    stop: cut ? 'length' : calls.length > 0 ? 'calls' : 'done',
    sealed: reasoning.filter((item) => at(item, 'encrypted_content')).length,
  };
}

const isSystem = (item: Json): boolean => at(item, 'role') === 'system';

function prompt(body: JsonObject): Prompt {
  return {
    task: 'chat',
    instructions: instructions(body),
    items: list(body.input).flatMap(items),
    tools: list(body.tools).map((tool) => ({
      name: text(at(tool, 'name')),
      description: text(at(tool, 'description')),
      parameters: at(tool, 'parameters') as JsonObject,
    })),
  };
}

const instructions = (body: JsonObject): string =>
  text(body.instructions) +
  list(body.input)
    .filter(isSystem)
    .map((item) => text(at(item, 'content')))
    .join('');

function items(item: Json): PromptItem[] {
  switch (at(item, 'type') ?? at(item, 'role')) {
    case 'user':
      return [{ kind: 'user', parts: parts(at(item, 'content')) }];
    case 'assistant':
      return [{ kind: 'text', text: text(at(item, 'content', 0, 'text')) }];
    case 'reasoning': {
      const stored = { ...(item as JsonObject), id: 'rs_1' };
      return [{ kind: 'reasoning', text: '', sealed: { provider: 'openai-responses', data: stored } }];
    }
    case 'function_call': {
      const input = JSON.parse(text(at(item, 'arguments'))) as JsonObject;
      return [{ kind: 'call', call: text(at(item, 'call_id')), tool: text(at(item, 'name')), input }];
    }
    case 'function_call_output': {
      const call = text(at(item, 'call_id'));
      return [{ kind: 'result', call, parts: parts(at(item, 'output')), failed: false }];
    }
    default:
      return [];
  }
}

const parts = (content: Json | undefined): PromptPart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : list(content).map((part) => {
        const [, mime, data] = /^data:([^;]+);base64,(.*)$/s.exec(text(at(part, 'image_url'))) ?? [];
        return mime && data ? { type: 'image', mime, data } : { type: 'text', text: text(at(part, 'text')) };
      });

function shape(body: JsonObject): unknown {
  const input = list(body.input).filter((item) => !isSystem(item));
  return {
    model: body.model,
    instructions: instructions(body),
    input,
    tools: body.tools,
    stream: body.stream,
  };
}
