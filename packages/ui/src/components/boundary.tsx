import { Component, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';

/** Error boundary of a page: the rest of the console keeps working. */
export class Boundary extends Component<{ children: ReactNode }, { thrown: unknown }> {
  override state = { thrown: null as unknown };

  static getDerivedStateFromError(thrown: unknown) {
    return { thrown };
  }

  override render() {
    const { thrown } = this.state;
    if (thrown === null) return this.props.children;
    if (isLoadError(thrown))
      return (
        <main className="page">
          <Empty
            title="Cannot load this page"
            action={<Button onClick={() => location.reload()}>Reload</Button>}
          >
            The server cannot be reached, or it has been updated.
          </Empty>
        </main>
      );
    return (
      <main className="page">
        <Empty title="This page crashed" action={<Button onClick={() => location.reload()}>Reload</Button>}>
          {thrown instanceof Error ? thrown.message : String(thrown)}
        </Empty>
      </main>
    );
  }
}

/** Whether a script of the page could not be loaded. Browsers have no other sign of it than the message. */
const isLoadError = (thrown: unknown): boolean =>
  thrown instanceof TypeError && /module/i.test(thrown.message) && /import|fetch|load/i.test(thrown.message);
