/** Questions of the extension itself: may it use a site, may it do what always needs a confirmation. */
import { useRef } from 'react';
import { useKeys } from '../../../../web/src/components/approval/use-keys.ts';
import { Button } from '../../../../web/src/components/button.tsx';
import { Icon } from '../../../../web/src/components/icon.tsx';
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

const answer = ({ id }: Ask, given: SiteAnswer | ActionAnswer): void =>
  void sendToWorker({ kind: 'answer', id, answer: given });

function SiteCard({ ask }: { ask: SiteAsk }) {
  const card = useRef<HTMLElement>(null);
  useKeys(card, (key) => {
    if (key === 'y') answer(ask, 'once');
    if (key === 'a') answer(ask, 'always');
    if (key === 'n') answer(ask, 'never');
  });
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
      <div className="ask-answers">
        <Button variant="primary" onClick={() => answer(ask, 'once')}>
          Allow once
        </Button>
        <Button onClick={() => answer(ask, 'always')}>Always allow</Button>
        <Button onClick={() => answer(ask, 'never')}>Never</Button>
      </div>
    </article>
  );
}

function ActionCard({ ask }: { ask: ActionAsk }) {
  const card = useRef<HTMLElement>(null);
  useKeys(card, (key) => {
    if (key === 'y') answer(ask, 'allow');
    if (key === 'n') answer(ask, 'deny');
  });
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
      <div className="ask-answers">
        <Button variant="primary" onClick={() => answer(ask, 'allow')}>
          Allow
        </Button>
        <Button onClick={() => answer(ask, 'deny')}>Deny</Button>
      </div>
    </article>
  );
}
