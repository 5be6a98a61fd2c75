import { z } from 'zod';
import { type Description, named } from '../dialects/shared/description.ts';

const OpenApiDocument = named(
  'OpenApiDocument',
  z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
);

const AsyncApiDocument = named(
  'AsyncApiDocument',
  z.looseObject({ asyncapi: z.string(), channels: z.record(z.string(), z.unknown()) }),
);

const Ready = named('Ready', z.object({ status: z.literal('ready') }));
const Unready = named(
  'Unready',
  z.object({
    status: z.literal('unavailable'),
    reason: z.enum(['starting', 'draining', 'storage_unavailable']),
    detail: z.string(),
  }),
);
const Refused = named('Refused', z.object({ error: z.string(), detail: z.string() }));

export const description: Omit<Description, 'socket'> = {
  title: 'Server',
  summary: 'About the server itself.',
  endpoints: [
    {
      method: 'get',
      path: '/',
      summary:
        'The console; a WebSocket at the same path is answered in the dialect that its first frame speaks',
      security: 'nobody',
      answers: {
        200: { description: 'The page', schema: z.string(), type: 'text/html' },
        304: { description: 'The page has not changed' },
        503: { description: 'The console was not built', schema: z.string(), type: 'text/html' },
      },
    },
    {
      method: 'get',
      path: '/assets/{file}',
      summary: 'What the console is made of, under names that change with what is in them',
      security: 'nobody',
      examples: () => [{ params: { file: 'none.js' } }],
      answers: {
        200: { description: 'The file', schema: z.string(), type: 'text/javascript' },
        304: { description: 'The file has not changed' },
        404: { description: 'There is no such file', schema: Refused },
      },
    },
    {
      method: 'get',
      path: '/ready',
      summary: 'Whether the server can serve just now; /health says whether it is alive',
      security: 'nobody',
      answers: {
        200: { description: 'It can', schema: Ready },
        503: { description: 'It cannot, and why', schema: Unready },
      },
    },
    {
      method: 'get',
      path: '/metrics',
      summary: 'What the server counts about itself, for Prometheus',
      security: 'caller',
      changing: true,
      answers: {
        200: { description: 'The figures', schema: z.string(), type: 'text/plain' },
        401: { description: 'A token is required, or it is not one', schema: Refused },
        403: { description: 'The permission metrics:read is missing', schema: Refused },
        503: { description: 'The token cannot be checked just now', schema: Refused },
      },
    },
    {
      method: 'get',
      path: '/openapi.json',
      summary: 'This description',
      security: 'nobody',
      answers: { 200: { description: 'OpenAPI 3.1', schema: OpenApiDocument } },
    },
    {
      method: 'get',
      path: '/asyncapi.json',
      summary: 'The description of the WebSocket messages',
      security: 'nobody',
      answers: { 200: { description: 'AsyncAPI 3.0', schema: AsyncApiDocument } },
    },
  ],
};
