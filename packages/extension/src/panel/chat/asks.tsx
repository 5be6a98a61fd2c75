/** Questions of the extension itself: may it use a site, may it do what always needs a confirmation. */

import { HeldHint } from '@parlance/ui/components/approval/answers.tsx';
import { useKeys } from '@parlance/ui/components/approval/use-keys.ts';
import { Button } from '@parlance/ui/components/button.tsx';
import { Icon } from '@parlance/ui/components/icon.tsx';
import { useRef } from 'react';
import {
  type ActionAnswer,
  type ActionAsk,
  type Ask,
  REASONS,
  type SiteAnswer,
  type SiteAsk,
} from '../../shared/asks.ts';
import { siteName } from '../../shared/sites.ts';
import { asks } from '../../shared/storage.ts';
import { useStored } from '../use-stored.ts';
import { sendToWorker } from '../worker.ts';

/** Those of this session, and those of agents in other clients. */
export function Asks({ session }: { session: string | null }) {
  const all = useStored(asks) ?? [];
  const shown = all.filter((ask) => ask.answer === null && (ask.session === null || ask.session === session));
  return shown.map((ask) =>
    ask.kind === 'site' ? <SiteCard key={ask.id} ask={ask} /> : <ActionCard key={ask.id} ask={ask} />,
  );
}

const SITE_ANSWERS = { y: 'Allow once', a: 'Always allow', n: 'Never' } as const;
const ACTION_ANSWERS = { y: 'Allow', n: 'Deny' } as const;

const answer = ({ id }: Ask, given: SiteAnswer | ActionAnswer): void =>
  void sendToWorker({ kind: 'answer', id, answer: given });

function SiteCard({ ask }: { ask: SiteAsk }) {
  const card = useRef<HTMLElement>(null);
  const actions = {
    y: () => answer(ask, 'once'),
    a: () => answer(ask, 'always'),
    n: () => answer(ask, 'never'),
  };
  const held = useKeys(card, actions, ask.id);
  return (
    <article
      className="card approval ask"
      ref={card}
      tabIndex={-1}
      data-state="pending"
      aria-label="Site permission"
    >
      <header className="approval-head">
        <Icon name="shield" />
        <strong>Use {siteName(ask.site)}?</strong>
      </header>
      <p>
        {ask.session === null
          ? 'An agent in another client wants to: '
          : 'The task reads this site and acts on it: '}
        {ask.purpose}
      </p>
      <Answers labels={SITE_ANSWERS} actions={actions} held={held} />
    </article>
  );
}

function ActionCard({ ask }: { ask: ActionAsk }) {
  const card = useRef<HTMLElement>(null);
  const actions = { y: () => answer(ask, 'allow'), n: () => answer(ask, 'deny') };
  const held = useKeys(card, actions, ask.id);
  return (
    <article
      className="card approval ask"
      ref={card}
      tabIndex={-1}
      data-state="pending"
      aria-label="Confirm the action"
    >
      <header className="approval-head">
        <Icon name="shield" />
        <strong>Confirm this action on {siteName(ask.site)}</strong>
      </header>
      <p className="ask-what">{ask.description}</p>
      <ul className="ask-reasons">
        {ask.reasons.map((reason) => (
          <li key={reason}>{REASONS[reason]}</li>
        ))}
      </ul>
      {ask.destination !== null && <p className="hint ask-what">{ask.destination}</p>}
      <Answers labels={ACTION_ANSWERS} actions={actions} held={held} />
    </article>
  );
}

type Key = 'y' | 'a' | 'n';
type AnswersProps = {
  readonly labels: Readonly<Partial<Record<Key, string>>>;
  readonly actions: Readonly<Partial<Record<Key, () => void>>>;
  readonly held: Key | null;
};

function Answers({ labels, actions, held }: AnswersProps) {
  return (
    <>
      <div className="ask-answers">
        {(['y', 'a', 'n'] as const).map(
          (key) =>
            labels[key] && (
              <Button
                key={key}
                variant={key === 'y' ? 'primary' : 'plain'}
                data-held={held === key || undefined}
                onClick={actions[key]}
              >
                {labels[key]}
              </Button>
            ),
        )}
      </div>
      {held && <HeldHint answer={labels[held] ?? ''} />}
    </>
  );
}
