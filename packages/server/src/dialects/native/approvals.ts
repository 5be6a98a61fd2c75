/** Pending approvals and questions, the standing grants of a session, and accepted instructions of projects. */
import { type ApprovalId, Fault, type QuestionId } from '@parlance/protocol';
import {
  AnswerApproval,
  AnswerQuestion,
  FoldersQuery,
  InstructionsQuery,
  PageQuery,
  SkillsQuery,
} from '@parlance/protocol/api';
import { requirePermission } from '../../core/index.ts';
import { endpoint, sessionOf } from './context.ts';
import { approvalView, pendingView, timeView } from './views.ts';

export const approvalEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/grants',
    summary: 'The standing grants of a session',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: { 200: { description: 'The grants', schema: 'GrantList' } },
    errors: [401, 403, 404],
    async handle({ principal, params }, ctx) {
      const ref = await sessionOf(ctx, principal, params.id);
      return { grants: (await ctx.engine.snapshot(ref)).grants };
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/sessions/{id}/grants/{grant}',
    summary: 'Revokes a standing grant',
    examples: ({ session, grant }) => [{ params: { id: session, grant } }],
    answers: { 200: { description: 'Revoked', schema: 'GrantRevoked' } },
    errors: [401, 403, 404],
    async handle({ principal, params: { id, grant } }, ctx) {
      const ref = await sessionOf(ctx, principal, id);
      const command = { type: 'grant.revoke', grant } as const;
      const { seq } = await ctx.engine.send(ref, command, { principal, dialect: 'native' });
      return { grant, seq };
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/instructions',
    summary:
      'Which files of working folders the caller, or an admin for everyone, has accepted or declined as instructions',
    answers: { 200: { description: 'By path', schema: 'InstructionsDecisions' } },
    errors: [401, 403],
    async handle({ principal }, { decisions }) {
      requirePermission(principal, 'chat:read');
      const rows = [...(await decisions.list(principal.id)), ...(await decisions.list(null))];
      return {
        decisions: rows.flatMap(({ owner, path, hash, state, by, at }) =>
          state === 'asked'
            ? []
            : [{ path, hash, use: state, everyone: owner === null, by, at: timeView(at) }],
        ),
      };
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/instructions',
    summary: 'Revokes a decision: the file is not used any more, and the next turn asks again',
    examples: () => [{ query: { path: '/work/AGENTS.md' } }],
    query: InstructionsQuery,
    answers: { 204: { description: 'Revoked' } },
    errors: [400, 401, 403, 404],
    async handle({ principal, query: { path, everyone } }, { decisions }) {
      const forAll = everyone === 'true';
      requirePermission(principal, forAll ? 'tool:approve' : 'chat:send');
      if (forAll && principal.role !== 'admin')
        throw new Fault('forbidden', 'Only admins revoke decisions for everyone.');
      if (!(await decisions.remove(forAll ? null : principal.id, path)))
        throw new Fault('not_found', 'There is no such decision.');
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/folders',
    summary: 'The folders in which sessions may work (`cwd` of `session.create`)',
    examples: () => [{}],
    query: FoldersQuery,
    answers: { 200: { description: 'The folders in `path`, or the topmost ones', schema: 'FolderList' } },
    errors: [400, 401, 403],
    handle({ principal, query: { path = null } }, { engine }) {
      requirePermission(principal, 'chat:send');
      return engine.folders(path);
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/skills',
    summary:
      'The skills that agents are offered: those of the server, and those of the folder that the caller has accepted',
    examples: ({ session }) => [{}, { query: { session } }],
    query: SkillsQuery,
    answers: { 200: { description: 'By name', schema: 'SkillList' } },
    errors: [400, 401, 403, 404],
    async handle({ principal, query: { session } }, ctx) {
      requirePermission(principal, 'chat:read');
      const ref = session === undefined ? null : await sessionOf(ctx, principal, session);
      return { skills: [...(await ctx.engine.skills(principal, ref))] };
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/approvals',
    summary: 'Lists pending approvals that the caller may answer, by last change of their session',
    examples: ({ owner, session }) => [{}, { query: { owner, session } }],
    query: PageQuery,
    answers: { 200: { description: 'One page', schema: 'ApprovalList' } },
    errors: [400, 401, 403],
    async handle({ principal, query }, { engine }) {
      const { waiting, next } = await engine.approvals(principal, query);
      const approvals = waiting.flatMap((now) => now.approvals.map((pending) => approvalView(now, pending)));
      return { approvals, next };
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/approvals/{id}',
    summary: 'Answers an approval; the first answer wins',
    examples: ({ approval, hash }) => [
      { params: { id: approval }, body: { answer: 'once' } },
      { params: { id: approval }, body: { answer: 'always', hash } },
      { params: { id: approval }, body: { answer: 'deny', reason: 'Not this file.' } },
    ],
    body: AnswerApproval,
    answers: { 200: { description: 'Answered', schema: 'ApprovalReceipt' } },
    errors: [400, 401, 403, 404, 409],
    async handle({ principal, params, body }, { engine }) {
      const approval = params.id as ApprovalId;
      const { seq } = await engine.answer(approval, body, { principal, dialect: 'native' });
      return { approval, answer: body.answer, seq };
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/questions',
    summary: 'Lists questions that wait for an answer of the caller, by last change of their session',
    examples: ({ owner, session }) => [{}, { query: { owner, session } }],
    query: PageQuery,
    answers: { 200: { description: 'One page', schema: 'QuestionList' } },
    errors: [400, 401, 403],
    async handle({ principal, query }, { engine }) {
      const { waiting, next } = await engine.approvals(principal, query);
      return { questions: waiting.flatMap((now) => now.questions.map((one) => pendingView(now, one))), next };
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/questions/{id}',
    summary: 'Answers a question; the first valid answer wins',
    examples: ({ question }) => [
      { params: { id: question }, body: { answers: { '1': ['PostgreSQL'] } } },
      { params: { id: question }, body: { declined: true } },
    ],
    body: AnswerQuestion,
    answers: { 200: { description: 'Answered', schema: 'QuestionReceipt' } },
    errors: [400, 401, 403, 404, 409],
    async handle({ principal, params, body }, { engine }) {
      const question = params.id as QuestionId;
      const { seq } = await engine.answerQuestion(question, body, { principal, dialect: 'native' });
      return { question, seq };
    },
  }),
];
