/** What “always” has allowed, in all sessions. */
import type { StandingGrant } from '@parlance/sdk';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { attempt, toast } from '../../components/toast.tsx';
import { hrefOf } from '../../router.ts';
import { parlance, useServer } from '../../state/server.ts';
import { Section } from './section.tsx';
import { usePolled } from './use-polled.ts';

export function GrantsSection() {
  const polled = usePolled(parlance.grants.list);
  const { principal } = useServer();
  const mayRevoke = principal.permissions.includes('tool:approve');

  async function revoke({ session, grant }: StandingGrant): Promise<void> {
    if (await attempt(() => parlance.session(session).revoke(grant)))
      toast(`${grant} has to be approved again.`);
    polled.again();
  }

  return (
    <Section title="Standing grants" whose="whoever may read chats" polled={polled}>
      {(grants) =>
        grants.length === 0 ? (
          <Empty
            title="Nothing runs unasked"
            action={<a href={hrefOf({ page: 'approvals' })}>See what waits for an approval</a>}
          >
            Whoever answers an approval with “always” allows its like for the rest of that session. It is
            listed here then, and can be taken back.
          </Empty>
        ) : (
          <>
            <p className="hint">
              Each lets calls like it run unasked, in its session alone.
              {!mayRevoke &&
                ' To take one back needs the permission tool:approve, which your role does not have.'}
            </p>
            <ul className="admin-list" aria-label="Standing grants">
              {grants.map((standing) => {
                const { session, owner, title, grant } = standing;
                return (
                  <li className="card" key={`${owner} ${session} ${grant}`}>
                    <div className="admin-what">
                      <code>{grant}</code>
                      <p className="hint">
                        in <a href={hrefOf({ page: 'session', id: session })}>{title || session}</a>
                        {owner !== principal.id && ` of ${owner}`}
                      </p>
                    </div>
                    <Button
                      look="danger"
                      disabled={!mayRevoke}
                      aria-label={`Revoke ${grant} in ${title || session}`}
                      onClick={() => void revoke(standing)}
                    >
                      Revoke
                    </Button>
                  </li>
                );
              })}
            </ul>
          </>
        )
      }
    </Section>
  );
}
