/** Files of working folders that were accepted or declined as instructions. */
import type { InstructionsDecision } from '@parlance/sdk';
import { attempt, Button, Chip, Empty, toast } from '@parlance/ui/components/controls.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { usePolled } from '../../state/use-polled.ts';
import { Section } from './section.tsx';

export function InstructionsSection() {
  const polled = usePolled(parlance.instructions.list);
  const { principal } = useServer();

  async function revoke({ path, everyone }: InstructionsDecision): Promise<void> {
    if (await attempt(() => parlance.instructions.revoke({ path, everyone })))
      toast(`${path} is not used until somebody accepts it again.`);
    polled.again();
  }

  return (
    <Section title="Project instructions" polled={polled}>
      {(decisions) =>
        decisions.length === 0 ? (
          <Empty title="No project instructions">
            If a working folder has an AGENTS.md or skills, you are asked whether the agent may follow them.
            Your answer is then listed here, holds until the file changes, and can be revoked.
          </Empty>
        ) : (
          <ul className="admin-list" aria-label="Project instructions">
            {decisions.map((decision) => {
              const { path, hash, use, everyone, by, at } = decision;
              return (
                <li className="card" key={`${everyone} ${path} ${hash}`}>
                  <div className="admin-what">
                    <code>{path}</code>
                    <p className="hint">
                      {use === 'used' ? 'Accepted' : 'Declined'} by {by} on{' '}
                      {new Date(at).toLocaleDateString()}
                      {', version '}
                      <code>{hash.slice(0, 12)}</code>
                    </p>
                  </div>
                  {everyone && <Chip title="This decision holds for all users">Everyone</Chip>}
                  <Button
                    variant="danger"
                    disabled={everyone && principal.role !== 'admin'}
                    aria-label={`Revoke the decision about ${path}`}
                    onClick={() => void revoke(decision)}
                  >
                    Revoke
                  </Button>
                </li>
              );
            })}
          </ul>
        )
      }
    </Section>
  );
}
