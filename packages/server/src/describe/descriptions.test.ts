import { expect, test } from 'bun:test';
import { z } from 'zod';
import { DIALECTS } from '../dialects/index.ts';
import type { Description } from '../dialects/shared/description.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { DESCRIPTIONS, descriptionsOf } from './descriptions.ts';
import { referenceTables } from './markdown.ts';
import { openApiDocument } from './openapi.ts';

const toy: Description = {
  title: 'Toy',
  summary: 'A dialect with one message and one endpoint.',
  endpoints: [
    {
      method: 'get',
      path: '/toy/{id}',
      summary: 'One toy',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: { 200: { description: 'The toy', schema: z.object({ id: z.string() }) } },
    },
  ],
  socket: { address: '/toy', connect: () => '/toy', nameField: 'type' },
  messages: {
    in: {
      play: {
        summary: 'Plays',
        schema: z.object({ type: z.literal('play'), with: z.string() }),
        examples: ({ session }) => [{ title: 'Play', frame: { type: 'play', with: session } }],
      },
    },
    out: {
      played: {
        summary: 'It was played with',
        schema: z.strictObject({ type: z.literal('played') }),
        example: { type: 'played' },
      },
    },
  },
};

test('every dialect of the index is described', () => {
  expect(DESCRIPTIONS.map(({ name }) => name)).toEqual([...DIALECTS.map(({ name }) => name), 'server']);
});

test('a dialect added to the list is in both documents and has reference tables', async () => {
  const descriptions = await descriptionsOf([{ name: 'toy', describe: async () => toy }]);
  expect(openApiDocument(descriptions).paths['/toy/{id}']?.get?.tags).toEqual(['toy']);
  const { channels, operations } = asyncApiDocument(descriptions);
  expect(Object.keys(channels.toy?.messages ?? {})).toEqual(['in.play', 'out.played']);
  expect(Object.keys(operations)).toEqual(['toy.receive', 'toy.send']);
  expect(referenceTables({ name: 'toy', ...toy })).toEqual({
    'client-messages': ['| message | fields | meaning |', '|---|---|---|', '| `play` | `with` | Plays |'],
    'server-messages': [
      '| message | fields | meaning |',
      '|---|---|---|',
      '| `played` |  | It was played with |',
    ],
    endpoints: [
      '| endpoint | access | meaning |',
      '|---|---|---|',
      '| `GET /toy/{id}` | a token if the server requires one | One toy |',
    ],
  });
});
