import { z } from 'zod';
import { named, type Section } from '../endpoint.ts';

const OpenApiDocument = named(
  'OpenApiDocument',
  z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
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

export const server: Section = {
  tag: 'server',
  description: 'About the server itself.',
  endpoints: [
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
  ],
};
