import { z } from 'zod';
import type { Description } from '../../dialects/kit/description.ts';
import { Refused, Said, Say } from './schemas.ts';

const Refusal = z.object({ toy: z.string(), status: z.number() });

const error = { description: 'It is refused', schema: Refusal };

export const schemas = {
  Steps: z.object({ steps: z.number() }),
  Title: z.object({ id: z.string(), title: z.string() }),
};

export const description: Description = {
  title: 'Toy clients',
  summary: 'A dialect for tests.',
  schemas,
  errors: { 401: error, 404: error },
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
