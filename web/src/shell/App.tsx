import { SessionNotice } from "../features/agents/SessionNotice.tsx";
import { passwordDue } from "../store/me.ts";
import { showError } from "../store/toasts.ts";
import { signedOut } from "../features/auth/state.ts";
import { ConversationHost } from "../features/conversation/ConversationHost.tsx";
import { view } from "../features/conversation/choice.ts";
import { HistoryHost } from "../features/history/HistoryHost.tsx";
import { ResultsHost } from "../features/checks/ResultsHost.tsx";
import { NewSessionHost } from "../features/sessions/NewSessionHost.tsx";
import { Sidebar } from "../features/sidebar/Sidebar.tsx";
import { sidebarShown, sideWidth } from "../features/sidebar/state.ts";
import { sessionList } from "../store/state.ts";
import { hasReceivedInit } from "../api/stream/connection.ts";
import { TerminalPane } from "../features/terminal/TerminalPane.tsx";
import { PromptBox } from "../features/prompt/PromptBox.tsx";
import { KeyBar } from "../features/touch/KeyBar.tsx";
import { Announcer } from "../features/notifications/Announcer.tsx";
import { lazySlot } from "../ui/lazySlot.tsx";
import { Menu } from "../ui/Menu.tsx";
import { Tip } from "../ui/Tip.tsx";
import { Toasts } from "../ui/Toasts.tsx";
import { WebHost } from "../features/webtabs/WebHost.tsx";
import { ConnectionBanner } from "./ConnectionBanner.tsx";
import { Empty, NoConnection } from "./Empty.tsx";
import { connectionNotice } from "../store/connectionnotice.ts";
import { AskHost, DrawerHost, PageHost, PaletteHost, PanelHost } from "./hosts.tsx";
import { ScreenReaderOffer } from "./ScreenReaderOffer.tsx";
import { covered } from "../ui/pages/stage.ts";
import { StatusBar } from "./StatusBar.tsx";
import { TopBar } from "./TopBar.tsx";

const failed = (error: unknown) => showError("Couldn't load the page", error);

const Login = lazySlot(async () => (await import("../features/auth/Login.tsx")).Login, { failed });
const FirstPassword = lazySlot(
  async () => (await import("../features/auth/FirstPassword.tsx")).FirstPassword,
  {
    failed,
  },
);

function Main() {
  if (!hasReceivedInit.value)
    return connectionNotice.value === undefined ? <div class="waiting" aria-busy="true" /> : <NoConnection />;
  return sessionList.value.byId.size === 0 ? <Empty /> : <TerminalPane />;
}

function Shell() {
  return (
    <div class="shell">
      <ScreenReaderOffer />
      <TopBar />
      <div class="middle" style={{ "--side": sideWidth.value }}>
        {sidebarShown.value && <Sidebar />}
        <div class="under" inert={covered.value}>
          <div class="stage">
            <ConnectionBanner />
            <SessionNotice />
            <main class="main" data-view={view.value}>
              <Main />
              <ConversationHost />
              <WebHost />
            </main>
            <PromptBox />
          </div>
          <PanelHost />
        </div>
        <PageHost />
        <HistoryHost />
        <NewSessionHost />
        <ResultsHost />
      </div>
      <StatusBar />
      <section class="keys" aria-label="Keys" inert={covered.value}>
        <KeyBar />
      </section>
      <DrawerHost />
      <PaletteHost />
      <AskHost />
      <Menu />
      <Announcer />
    </div>
  );
}

function Front() {
  if (signedOut.value) return <Login />;
  return passwordDue.value ? <FirstPassword /> : <Shell />;
}

export function App() {
  return (
    <>
      <Front />
      <Toasts />
      <Tip />
    </>
  );
}
