import { describe, expect, test } from 'bun:test';
import type { ModelOptions } from '@parlance/protocol';
import type { Prompt } from '../core/ports/provider.ts';
import { type AnthropicModel, requestBody as anthropicBody } from './anthropic-request.ts';
import { requestBody as googleBody } from './google-request.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const ALL: ModelOptions = {
  temperature: 0.5,
  topP: 0.9,
  maxOutputTokens: 100,
  stop: ['END'],
  responseFormat: { type: 'json_schema', schema: SCHEMA },
  reasoningEffort: 'low',
  toolChoice: { tool: 'lookup' },
  parallelToolCalls: false,
};
const prompt = (options?: ModelOptions): Prompt => ({
  task: 'chat',
  instructions: '',
  items: [{ kind: 'user', parts: [{ type: 'text', text: 'Go' }] }],
  tools: [{ name: 'lookup', description: 'Looks up.', parameters: {} }],
  ...(options ? { options } : {}),
});
const OPENAI = { key: 'key', baseUrl: 'https://example.com/v1', model: 'gpt-5' };
const bodyOf = (request: { body: unknown }): Record<string, unknown> =>
  typeof request.body === 'string' ? JSON.parse(request.body) : (request.body as Record<string, unknown>);
const CLAUDE = { model: 'claude', maxTokens: 1_000, thinking: 'adaptive' } as const;
const GEMINI = { name: 'gemini', maxTokens: undefined, thinks: false, signs: false, fetches: false };

describe('options of a prompt', () => {
  test('in Chat Completions', () => {
    expect(bodyOf(openaiChat(OPENAI).request(prompt(ALL)))).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 100,
      stop: ['END'],
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } },
      tool_choice: { type: 'function', function: { name: 'lookup' } },
      parallel_tool_calls: false,
    });
  });

  test('in the Responses API', () => {
    expect(bodyOf(openaiResponses(OPENAI).request(prompt(ALL)))).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      reasoning: { summary: 'auto', effort: 'low' },
      text: { format: { type: 'json_schema', name: 'answer', schema: SCHEMA } },
      tool_choice: { type: 'function', name: 'lookup' },
      parallel_tool_calls: false,
    });
  });

  test('in the Messages API, without thinking, which it refuses together with them', () => {
    const body = anthropicBody(prompt(ALL), CLAUDE, false);
    expect(body).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 100,
      stop_sequences: ['END'],
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
      tool_choice: { type: 'tool', name: 'lookup', disable_parallel_tool_use: true },
    });
    expect(body).not.toHaveProperty('thinking');
    expect(anthropicBody(prompt({ maxOutputTokens: 50 }), CLAUDE, false)).toMatchObject({
      max_tokens: 50,
      thinking: { type: 'adaptive' },
    });
  });

  test('in generateContent', () => {
    expect(googleBody(prompt(ALL), GEMINI, false)).toMatchObject({
      generationConfig: {
        temperature: 0.5,
        topP: 0.9,
        maxOutputTokens: 100,
        stopSequences: ['END'],
        responseMimeType: 'application/json',
        responseJsonSchema: SCHEMA,
      },
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['lookup'] } },
    });
  });

  test('add nothing if there are none', () => {
    const added = [
      'temperature',
      'tool_choice',
      'max_tokens',
      'response_format',
      'parallel_tool_calls',
      'text',
    ];
    for (const api of [openaiChat(OPENAI), openaiResponses(OPENAI)])
      for (const field of added) expect(bodyOf(api.request(prompt()))).not.toHaveProperty(field);
    expect(anthropicBody(prompt(), CLAUDE, false)).not.toHaveProperty('tool_choice');
    expect(googleBody(prompt(), GEMINI, false)).not.toHaveProperty('generationConfig');
  });
});

describe('reasoning', () => {
  const claude = (options: ModelOptions, thinking: AnthropicModel['thinking'], plain = false) =>
    anthropicBody(prompt(options), { ...CLAUDE, thinking }, plain);

  test('an effort is sent to models that decide how much they think, in the vendor’s names', () => {
    expect(claude({ reasoningEffort: 'max' }, 'adaptive')).toMatchObject({
      output_config: { effort: 'max' },
    });
    expect(claude({ reasoningEffort: 'minimal' }, 'adaptive')).toMatchObject({
      output_config: { effort: 'low' },
    });
    for (const body of [
      claude({ reasoningEffort: 'none' }, 'adaptive'),
      claude({ reasoningEffort: 'high' }, 'off'),
      claude({ reasoningEffort: 'high' }, 'adaptive', true),
    ])
      expect(body).not.toHaveProperty('output_config');
  });

  test('a budget replaces that of models that have one, and 0 disables it', () => {
    expect(claude({ reasoningTokens: 5_000 }, { budgetTokens: 2_000 })).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 5_000 },
      max_tokens: 6_000,
    });
    expect(claude({ reasoningTokens: 5_000 }, 'adaptive')).toMatchObject({ thinking: { type: 'adaptive' } });
    for (const thinking of [{ budgetTokens: 2_000 }, 'adaptive'] as const)
      expect(claude({ reasoningTokens: 0 }, thinking)).not.toHaveProperty('thinking');
  });

  test('an effort is left out where a model or server has refused it', () => {
    const asked = prompt({ reasoningEffort: 'xhigh' });
    expect(bodyOf(openaiChat(OPENAI).request(asked))).toMatchObject({ reasoning_effort: 'xhigh' });
    expect(bodyOf(openaiChat(OPENAI).request(asked, true))).not.toHaveProperty('reasoning_effort');
    expect(bodyOf(openaiResponses({ ...OPENAI, model: 'gpt-4o' }).request(asked))).not.toHaveProperty(
      'reasoning',
    );
  });
});
