/** Pending approvals, and the standing grants of a session. */
import type { ApprovalId } from '@parlance/protocol';
import {
  AnswerApproval,
  type ApprovalList,
  type ApprovalReceipt,
  type GrantList,
  type GrantRevoked,
  PageQuery,
} from '@parlance/protocol/api';
import type { Hono } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import type { Context } from './context.ts';
import { body, checked, type Sent, sessionOf } from './requests.ts';
import { approvalView } from './views.ts';

export function approvalRoutes(api: Hono, ctx: Context): void {
  const { engine, authenticator } = ctx;

  api.get('/v1/sessions/:id/grants', async (c) => {
    const { ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    return c.json({ grants: (await engine.snapshot(ref)).grants } satisfies Sent<GrantList>);
  });

  api.delete('/v1/sessions/:id/grants/:grant', async (c) => {
    const { principal, ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    const grant = c.req.param('grant');
    const { seq } = await engine.send(ref, { type: 'grant.revoke', grant }, { principal, dialect: 'native' });
    return c.json({ grant, seq } satisfies Sent<GrantRevoked>);
  });

  api.get('/v1/approvals', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const { waiting, next } = await engine.approvals(principal, checked(PageQuery, c.req.query()));
    const approvals = waiting.flatMap((now) => now.approvals.map((pending) => approvalView(now, pending)));
    return c.json({ approvals, next } satisfies Sent<ApprovalList>);
  });

  api.post('/v1/approvals/:id', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const answer = checked(AnswerApproval, await body(ctx, c.req.raw));
    const approval = c.req.param('id') as ApprovalId;
    const { seq } = await engine.answer(approval, answer, { principal, dialect: 'native' });
    return c.json({ approval, answer: answer.answer, seq } satisfies Sent<ApprovalReceipt>);
  });
}
