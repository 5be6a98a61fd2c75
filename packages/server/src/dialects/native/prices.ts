/** The price table: everyone sees it, admins change it. */
import { Fault } from '@parlance/protocol';
import type { Hono } from 'hono';
import { z } from 'zod';
import { principalOf } from '../../http/request-identity.ts';
import { type Endpoint, named } from '../shared/description.ts';
import { Price } from '../shared/prices.ts';
import { requestLimit } from '../shared/request-limit.ts';
import type { Context } from './context.ts';
import { nativeErrors as errors } from './described-errors.ts';
import { body, checked } from './requests.ts';

const NewPrice = z.strictObject({
  model: z.string().trim().min(1).max(200),
  price: Price.nullable().describe('US dollars per million tokens; null removes it'),
});

const Prices = named('Prices', z.object({ prices: z.record(z.string(), Price) }));

export function priceRoutes(api: Hono, ctx: Context): void {
  const prices = () => ctx.administration.prices;
  api.use('/v1/prices', requestLimit(ctx));

  api.get('/v1/prices', async (c) => {
    await principalOf(ctx.authenticator, c.req.raw);
    return c.json({ prices: await prices().list() });
  });

  api.post('/v1/admin/prices', async (c) => {
    const { role } = await principalOf(ctx.authenticator, c.req.raw);
    if (role !== 'admin') throw new Fault('forbidden', 'Only an admin may set prices.');
    const { model, price } = checked(NewPrice, await body(ctx, c.req.raw));
    await prices().set(model, price);
    return c.json({ prices: await prices().list() });
  });
}

export const pricesDescribed: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/v1/prices',
    summary: 'Prices of models in US dollars per million tokens, as an admin has set them',
    security: 'caller',
    answers: { 200: { description: 'By the name of the model', schema: Prices }, ...errors(401) },
  },
  {
    method: 'post',
    path: '/v1/admin/prices',
    summary: 'Sets or removes the price of a model; for admins',
    security: 'token',
    examples: () => [{ body: { model: 'gpt-5', price: { input: 1.25, output: 10, cached: 0.125 } } }],
    body: named('NewPrice', NewPrice),
    answers: { 200: { description: 'All prices', schema: Prices }, ...errors(400, 401, 403) },
  },
];
