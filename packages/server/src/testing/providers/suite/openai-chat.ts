import type { Json, JsonObject, PromptPart } from '@parlance/protocol';
import type { Prompt, PromptItem } from '../../../core/ports/provider.ts';
import { openaiChat } from '../../../providers/openai-chat.ts';
import type { Enrolment, Reading } from './enrolment.ts';
import { at, list, text } from './loose-json.ts';

export const OPENAI_CHAT: Enrolment = {
  name: 'openai-chat',
  file: 'openai-chat.ts',
  folders: ['openai-chat', 'openai-compatible-chat'],
  api: openaiChat,
  read,
  prompt,
  shape,
};

const STOPS: Record<string, Reading['stop']> = {
  stop: 'done',
  tool_calls: 'calls',
  length: 'length',
  content_filter: 'refused',
};

function read(body: string): Reading {
  const chunks = body
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject);
  const deltas = chunks.map((chunk) => at(chunk, 'choices', 0, 'delta'));
  const pieces = deltas.flatMap((delta) => list(at(delta, 'tool_calls')));
  const indices = [...new Set(pieces.map((piece) => at(piece, 'index')))];
  const usage = chunks.map((chunk) => at(chunk, 'usage')).findLast((value) => value);
  const finish = chunks.map((chunk) => at(chunk, 'choices', 0, 'finish_reason')).findLast((value) => value);
  const stop = STOPS[text(finish)];
  if (!stop) throw new Error(`an unknown finish_reason: ${text(finish)}`);
  return {
    text: deltas.map((delta) => text(at(delta, 'content')) + text(at(delta, 'refusal'))).join(''),
    reasoning: deltas.map((delta) => text(at(delta, 'reasoning_content') ?? at(delta, 'reasoning'))).join(''),
    calls: indices.map((index) => {
      const own = pieces.filter((piece) => at(piece, 'index') === index);
      return {
        call: own.map((piece) => text(at(piece, 'id'))).join(''),
        tool: own.map((piece) => text(at(piece, 'function', 'name'))).join(''),
        input: JSON.parse(own.map((piece) => text(at(piece, 'function', 'arguments'))).join('')),
      };
    }),
    usage: {
      inputTokens: Number(at(usage, 'prompt_tokens')),
      outputTokens: Number(at(usage, 'completion_tokens')),
      cachedTokens: (at(usage, 'prompt_tokens_details', 'cached_tokens') ?? at(usage, 'cached_tokens')) as
        | number
        | undefined,
      reasoningTokens: at(usage, 'completion_tokens_details', 'reasoning_tokens') as number | undefined,
    },
    // A call forced by the request ends with a plain `stop`.
    stop: stop === 'done' && indices.length > 0 ? 'calls' : stop,
    sealed: deltas.some((delta) => at(delta, 'reasoning_content') || at(delta, 'reasoning')) ? 1 : 0,
  };
}

function prompt(body: JsonObject): Prompt {
  const messages = list(body.messages);
  return {
    task: 'chat',
    instructions: messages
      .map((message) => (at(message, 'role') === 'system' ? content(message) : ''))
      .join(''),
    items: messages.flatMap(items),
    tools: list(body.tools).map((tool) => ({
      name: text(at(tool, 'function', 'name')),
      description: text(at(tool, 'function', 'description')),
      parameters: at(tool, 'function', 'parameters') as JsonObject,
    })),
  };
}

const content = (message: Json): string => text(at(message, 'content'));

function items(message: Json): PromptItem[] {
  const parts: PromptPart[] = [{ type: 'text', text: content(message) }];
  switch (at(message, 'role')) {
    case 'user':
      return [{ kind: 'user', parts }];
    case 'tool':
      return [{ kind: 'result', call: text(at(message, 'tool_call_id')), parts, failed: false }];
    case 'assistant':
      return [
        ...(content(message) ? [{ kind: 'text' as const, text: content(message) }] : []),
        ...list(at(message, 'tool_calls')).map((call) => ({
          kind: 'call' as const,
          call: text(at(call, 'id')),
          tool: text(at(call, 'function', 'name')),
          input: JSON.parse(text(at(call, 'function', 'arguments'))) as JsonObject,
        })),
      ];
    default:
      return [];
  }
}

function shape({ model, messages, tools, stream, stream_options }: JsonObject): unknown {
  return { model, messages, tools, stream, stream_options };
}
