import { z } from 'zod';
import {
  type Description,
  type Endpoint,
  type Examples,
  named,
  type RequestExample,
} from '../kit/description.ts';
import { errors, SESSION } from './describe-errors.ts';
import { conversationEndpoints, responseEndpoints } from './describe-responses.ts';
import { Completion, ModelList, ModelView } from './response-schemas.ts';
import { CompletionRequest, RequestHeaders } from './schemas.ts';

const hello = { role: 'user', content: 'count to 20' } as const;
const WEATHER = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
} as const;

const STREAMED: RequestExample = {
  title: 'Stream an answer',
  first: true,
  stream: true,
  creates: true,
  body: { model: 'parlance', messages: [hello], stream: true },
};

const UNKNOWN: RequestExample = { probe: true, body: { model: 'nobody', messages: [hello] } };

const examples: Examples<RequestExample> = ({ call }) => [
  STREAMED,
  {
    title: 'With tools of the caller',
    creates: true,
    body: { model: 'parlance', messages: [hello], tools: [WEATHER] },
  },
  {
    title: 'With a history and results',
    creates: true,
    body: {
      model: 'parlance',
      messages: [
        { role: 'system', content: 'Be brief.' },
        hello,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: call, type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: call, content: 'sunny' },
        { role: 'user', content: 'count to 3' },
      ],
    },
  },
  UNKNOWN,
];

const endpoints = (base: string): Endpoint[] => [
  {
    method: 'get',
    path: `${base}/models`,
    summary: 'The models and agents that a request may name',
    security: 'caller',
    answers: { 200: { description: 'The list', schema: ModelList }, ...errors(401) },
  },
  {
    method: 'get',
    path: `${base}/models/{model}`,
    summary: 'A model or agent',
    security: 'caller',
    examples: () => [{ params: { model: 'parlance' } }, { params: { model: 'nobody' }, probe: true }],
    answers: { 200: { description: 'The model', schema: ModelView }, ...errors(401, 404) },
  },
  {
    method: 'post',
    path: `${base}/chat/completions`,
    summary: 'Chat Completions: the answer to a conversation, whole or as a stream',
    security: 'caller',
    headers: RequestHeaders,
    body: named('OpenaiChatRequest', CompletionRequest),
    examples: base === '/v1' ? () => [STREAMED, UNKNOWN] : examples,
    answers: {
      200: [
        { description: 'The answer, whole or as server-sent events', schema: Completion, headers: SESSION },
        {
          description: '',
          type: 'text/event-stream',
          schema: z.string().describe('`chat.completion.chunk` objects, then `[DONE]`'),
        },
      ],
      ...errors(400, 401, 402, 403, 404, 409, 413, 422, 429, 502, 503),
    },
  },
];

const NODE_SCRIPT = {
  title: 'Node and Bun, with openai',
  language: 'ts',
  code: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '{{origin}}/openai/v1', apiKey: process.env.PARLANCE_TOKEN ?? 'none' });
const stream = await client.chat.completions.create({
  model: 'parlance',
  messages: [{ role: 'user', content: 'count to 20' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`,
} as const;

const PYTHON_SCRIPT = {
  title: 'Python, with openai',
  language: 'python',
  code: `import os
from openai import OpenAI

client = OpenAI(base_url="{{origin}}/openai/v1", api_key=os.environ.get("PARLANCE_TOKEN", "none"))
print(client.responses.create(model="parlance", input="count to 20").output_text)`,
} as const;

const LANGCHAIN_SCRIPT = {
  title: 'LangChain, with @langchain/openai',
  language: 'ts',
  code: `import { ChatOpenAI } from '@langchain/openai';

const model = new ChatOpenAI({
  model: 'parlance',
  apiKey: process.env.PARLANCE_TOKEN ?? 'none',
  configuration: { baseURL: '{{origin}}/openai/v1' },
});
console.log((await model.invoke('count to 20')).text);`,
} as const;

const CODEX_CONFIG = {
  title: 'Codex, in ~/.codex/config.toml',
  language: 'toml',
  code: `model = "parlance"
model_provider = "parlance"

[model_providers.parlance]
name = "Parlance"
base_url = "{{origin}}/openai/v1"
wire_api = "responses"
env_key = "PARLANCE_TOKEN"`,
} as const;

export const description: Description = {
  title: 'OpenAI clients',
  summary:
    'SDKs and applications of the OpenAI API: set the base URL to /openai/v1 and the key to a token or an API key.',
  note: 'Clients that have no setting for the key read OPENAI_API_KEY, and OPENAI_BASE_URL for the address.',
  scripts: [NODE_SCRIPT, PYTHON_SCRIPT, LANGCHAIN_SCRIPT, CODEX_CONFIG],
  endpoints: [
    ...endpoints('/openai/v1'),
    ...responseEndpoints('/openai/v1'),
    ...conversationEndpoints,
    ...endpoints('/v1'),
    ...responseEndpoints('/v1'),
  ],
};
