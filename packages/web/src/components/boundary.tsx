import { Component, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';

/** What goes wrong in a page stays in it: the rest of the console goes on. */
export class Boundary extends Component<{ children: ReactNode }, { thrown: unknown }> {
  override state = { thrown: null as unknown };

  static getDerivedStateFromError(thrown: unknown) {
    return { thrown };
  }

  override render() {
    const { thrown } = this.state;
    if (thrown === null) return this.props.children;
    return (
      <main className="page">
        <Empty
          title="This page could not be shown"
          action={<Button onClick={() => location.reload()}>Load it again</Button>}
        >
          {thrown instanceof Error ? thrown.message : String(thrown)}
        </Empty>
      </main>
    );
  }
}
