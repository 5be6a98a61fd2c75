/** The price table: everyone sees it, admins change it. */
import { Fault } from '@parlance/protocol';
import { NewPrice, type Prices } from '@parlance/protocol/api';
import type { Hono } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import { requestLimit } from '../kit/request-limit.ts';
import type { Context } from './context.ts';
import { body, checked, type Sent } from './requests.ts';

export function priceRoutes(api: Hono, ctx: Context): void {
  const prices = () => ctx.administration.prices;
  api.use('/v1/prices', requestLimit(ctx));

  api.get('/v1/prices', async (c) => {
    await principalOf(ctx.authenticator, c.req.raw);
    return c.json({ prices: await prices().list() } satisfies Sent<Prices>);
  });

  api.post('/v1/admin/prices', async (c) => {
    const { role } = await principalOf(ctx.authenticator, c.req.raw);
    if (role !== 'admin') throw new Fault('forbidden', 'Only an admin may set prices.');
    const { model, price } = checked(NewPrice, await body(ctx, c.req.raw));
    await prices().set(model, price);
    return c.json({ prices: await prices().list() } satisfies Sent<Prices>);
  });
}
