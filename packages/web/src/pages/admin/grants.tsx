/** Standing grants of all sessions. */
import type { StandingGrant } from '@parlance/sdk';
import { attempt, Button, Empty, toast } from '@parlance/ui/components/controls.tsx';
import { hrefOf } from '@parlance/ui/state/router.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { usePolled } from '../../state/use-polled.ts';
import { Section } from './section.tsx';

export function GrantsSection() {
  const polled = usePolled(parlance.grants.list);
  const { principal } = useServer();
  const mayRevoke = principal.permissions.includes('tool:approve');

  async function revoke({ session, grant }: StandingGrant): Promise<void> {
    if (await attempt(() => parlance.session(session).revoke(grant))) toast(`${grant} needs approval again.`);
    polled.again();
  }

  return (
    <Section title="Standing grants" polled={polled}>
      {(grants) =>
        grants.length === 0 ? (
          <Empty
            title="No standing grants"
            action={<a href={hrefOf({ page: 'approvals' })}>Show pending approvals</a>}
          >
            If you answer an approval with “Always”, similar calls run without dialog for the rest of that
            session. The grant is then listed here and can be revoked.
          </Empty>
        ) : (
          <>
            <p className="hint">
              Similar calls run without dialog, in that session only.
              {!mayRevoke &&
                ' Revoking a grant needs the permission tool:approve, which your role does not have.'}
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
                      variant="danger"
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
