/** Questions of the extension itself: may it use a site, may it do what always needs a confirmation. */

import { HeldHint } from '@parlance/ui/components/approval/approval-card.tsx';
import { useKeys } from '@parlance/ui/components/approval/use-keys.ts';
import { Button, Icon } from '@parlance/ui/components/controls.tsx';
import { type ReactNode, useRef } from 'react';
import {
  type ActionAnswer,
  type ActionAsk,
  type Ask,
  REASONS,
  type SiteAnswer,
  type SiteAsk,
} from '../../shared/records.ts';
import { siteName } from '../../shared/sites.ts';
import { asks } from '../../shared/storage.ts';
import { sendToWorker, useStored } from '../state.ts';

/** Those of this session, and those of agents in other clients. */
export function Asks({ session }: { session: string | null }) {
  const all = useStored(asks) ?? [];
  const shown = all.filter((ask) => ask.answer === null && (ask.session === null || ask.session === session));
  return shown.map((ask) =>
    ask.kind === 'site' ? <SiteCard key={ask.id} ask={ask} /> : <ActionCard key={ask.id} ask={ask} />,
  );
}

const answer = ({ id }: Ask, given: SiteAnswer | ActionAnswer): void =>
  void sendToWorker({ kind: 'answer', id, answer: given });

const SiteCard = ({ ask }: { ask: SiteAsk }) => (
  <AskCard
    id={ask.id}
    label="Site permission"
    title={`Use ${siteName(ask.site)}?`}
    answers={{
      y: ['Allow once', () => answer(ask, 'once')],
      a: ['Always allow', () => answer(ask, 'always')],
      n: ['Never', () => answer(ask, 'never')],
    }}
  >
    <p>
      {ask.session === null
        ? 'An agent in another client wants to: '
        : 'The task reads this site and acts on it: '}
      {ask.purpose}
    </p>
  </AskCard>
);

const ActionCard = ({ ask }: { ask: ActionAsk }) => (
  <AskCard
    id={ask.id}
    label="Confirm the action"
    title={`Confirm this action on ${siteName(ask.site)}`}
    answers={{ y: ['Allow', () => answer(ask, 'allow')], n: ['Deny', () => answer(ask, 'deny')] }}
  >
    <p className="ask-what">{ask.description}</p>
    <ul className="ask-reasons">
      {ask.reasons.map((reason) => (
        <li key={reason}>{REASONS[reason]}</li>
      ))}
    </ul>
    {ask.destination !== null && <p className="hint ask-what">{ask.destination}</p>}
  </AskCard>
);

const KEYS = ['y', 'a', 'n'] as const;
type Key = (typeof KEYS)[number];

type AskCardProps = {
  readonly id: string;
  readonly label: string;
  readonly title: string;
  /** by the key that gives it */
  readonly answers: Readonly<Partial<Record<Key, readonly [label: string, give: () => void]>>>;
  readonly children: ReactNode;
};

function AskCard({ id, label, title, answers, children }: AskCardProps) {
  const card = useRef<HTMLElement>(null);
  const actions: Partial<Record<Key, () => void>> = {};
  for (const key of KEYS) if (answers[key]) actions[key] = answers[key][1];
  const held = useKeys(card, actions, id);
  return (
    <article className="card approval ask" ref={card} tabIndex={-1} data-state="pending" aria-label={label}>
      <header className="approval-head">
        <Icon name="shield" />
        <strong>{title}</strong>
      </header>
      {children}
      <div className="ask-answers">
        {KEYS.map(
          (key) =>
            answers[key] && (
              <Button
                key={key}
                variant={key === 'y' ? 'primary' : 'plain'}
                data-held={held === key || undefined}
                onClick={answers[key][1]}
              >
                {answers[key][0]}
              </Button>
            ),
        )}
      </div>
      {held && <HeldHint answer={answers[held]?.[0] ?? ''} />}
    </article>
  );
}
