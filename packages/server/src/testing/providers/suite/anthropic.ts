import type { Json, JsonObject, PromptPart } from '@parlance/protocol';
import type { Prompt, PromptItem } from '../../../core/ports/provider.ts';
import { anthropic } from '../../../providers/anthropic.ts';
import type { Enrolment, Reading } from './enrolment.ts';
import { at, list, text } from './loose-json.ts';

const STOPS: Record<string, Reading['stop']> = {
  end_turn: 'done',
  tool_use: 'calls',
  max_tokens: 'length',
  refusal: 'refused',
};

/** Block by block, each from all events of its index. */
function read(body: string): Reading {
  const events = body
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject);
  const indices = [...new Set(events.map((event) => at(event, 'index')))].filter(
    (index) => index !== undefined,
  );
  const blocks = indices.map((index) => {
    const own = events.filter((event) => event.index === index);
    const all = (field: string) => own.map((event) => text(at(event, 'delta', field))).join('');
    return { start: at(own[0], 'content_block'), all };
  });
  const calls = blocks.filter(({ start }) => at(start, 'type') === 'tool_use');
  const usage = events.findLast((event) => event.type === 'message_delta')?.usage;
  const stop =
    STOPS[
      text(
        at(
          events.findLast((event) => event.type === 'message_delta'),
          'delta',
          'stop_reason',
        ),
      )
    ];
  if (!stop) throw new Error('an unknown stop_reason');
  const counted = (field: string) => Number(at(usage, field));
  return {
    text: blocks.map(({ all }) => all('text')).join(''),
    reasoning: blocks.map(({ all }) => all('thinking')).join(''),
    calls: calls.map(({ start, all }) => ({
      call: text(at(start, 'id')),
      tool: text(at(start, 'name')),
      input: JSON.parse(all('partial_json') || '{}') as JsonObject,
    })),
    usage: {
      inputTokens:
        counted('input_tokens') + counted('cache_read_input_tokens') + counted('cache_creation_input_tokens'),
      outputTokens: counted('output_tokens'),
      cachedTokens: counted('cache_read_input_tokens'),
    },
    stop,
    sealed: blocks.filter(({ all }) => all('signature') !== '').length,
  };
}

function prompt(body: JsonObject): Prompt {
  return {
    task: 'chat',
    instructions: text(at(body, 'system', 0, 'text')),
    items: list(body.messages).flatMap((message) =>
      list(at(message, 'content')).map((block) => item(message, block)),
    ),
    tools: list(body.tools).map((tool) => ({
      name: text(at(tool, 'name')),
      description: text(at(tool, 'description')),
      parameters: at(tool, 'input_schema') as JsonObject,
    })),
  };
}

function item(message: Json, block: Json): PromptItem {
  switch (at(block, 'type')) {
    case 'tool_use':
      return {
        kind: 'call',
        call: text(at(block, 'id')),
        tool: text(at(block, 'name')),
        input: at(block, 'input') as JsonObject,
      };
    case 'tool_result': {
      const content = at(block, 'content');
      const parts = typeof content === 'string' ? [part({ text: content })] : list(content).map(part);
      return {
        kind: 'result',
        call: text(at(block, 'tool_use_id')),
        parts,
        failed: at(block, 'is_error') === true,
      };
    }
    default:
      return at(message, 'role') === 'assistant'
        ? { kind: 'text', text: text(at(block, 'text')) }
        : { kind: 'user', parts: [part(block)] };
  }
}

const part = (block: Json): PromptPart =>
  at(block, 'type') === 'image'
    ? {
        type: 'image',
        mime: text(at(block, 'source', 'media_type')),
        data: text(at(block, 'source', 'data')),
      }
    : { type: 'text', text: text(at(block, 'text')) };

/** Adjacent messages of one role are joined; if the model began a conversation, a user message is prepended. */
function shape(body: JsonObject): unknown {
  const blocks = list(body.messages).flatMap((message) =>
    list(at(message, 'content')).map((block) => ({ role: at(message, 'role'), block: withoutMark(block) })),
  );
  return {
    model: body.model,
    system: list(body.system).map(withoutMark),
    blocks: blocks.slice(
      blocks.findIndex(({ block }) => at(block, 'text') === '(The user said nothing.)') + 1,
    ),
    tools: list(body.tools).map(withoutMark),
    stream: body.stream,
  };
}

/** A string is short for one block of text. */
function withoutMark(value: Json): Json {
  const { cache_control: _, ...rest } = value as JsonObject;
  return typeof rest.content === 'string'
    ? { ...rest, content: [{ type: 'text', text: rest.content }] }
    : rest;
}

export const ANTHROPIC: Enrolment = {
  name: 'anthropic',
  file: 'anthropic.ts',
  folders: ['anthropic-messages', 'anthropic-messages-cache'],
  api: anthropic,
  read,
  // Recorded to show that calls must come last, which our prompts guarantee.
  prompt: (body) => (callThenText(body) ? null : prompt(body)),
  shape,
};

const callThenText = (body: JsonObject): boolean =>
  list(body.messages).some((message) => {
    const types = list(at(message, 'content')).map((block) => at(block, 'type'));
    return types.lastIndexOf('text') > types.indexOf('tool_use') && types.includes('tool_use');
  });
