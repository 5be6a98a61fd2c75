import { z } from 'zod';
import type { Answers, Description } from '../../dialects/kit/description.ts';
import { Refused, Said, Say } from './schemas.ts';

const Refusal = z.object({ toy: z.string(), status: z.number() });

const errors = (...codes: number[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: 'It is refused', schema: Refusal }]));

export const description: Description = {
  title: 'Toy clients',
  summary: 'A dialect for tests.',
  endpoints: [
    {
      method: 'get',
      path: '/toy/steps',
      summary: 'How many steps a turn may have',
      security: 'caller',
      answers: {
        200: { description: 'The number', schema: z.object({ steps: z.number() }) },
        ...errors(401),
      },
    },
    {
      method: 'get',
      path: '/toy/sessions/{id}',
      summary: 'The title of a session',
      security: 'caller',
      examples: ({ session }) => [{ title: 'Get the session', first: true, params: { id: session } }],
      answers: {
        200: { description: 'The title', schema: z.object({ id: z.string(), title: z.string() }) },
        ...errors(401, 404),
      },
    },
  ],
  socket: { nameField: 'type' },
  messages: {
    in: {
      say: {
        summary: 'An input',
        schema: Say,
        examples: ({ session }) => [
          { title: 'Say hello', endedBy: 'said', frame: { type: 'say', session, text: 'hello' } },
        ],
      },
    },
    out: {
      said: { summary: 'An answer', schema: Said, example: { type: 'said', text: 'hello' } },
      refused: {
        summary: 'A message was refused',
        schema: Refused,
        example: { type: 'refused', reason: 'A token is required.' },
      },
    },
  },
};
