/** The routes of container hosts and of cases' containers (protocol-containers). */
import { request } from "../api/client.ts";
import type {
  BuildLog,
  ContainerDetails,
  ContainerHost,
  ContainerHostBody,
  Containers,
  Nothing,
  OneContainerHost,
} from "../api/types.ts";

const PATH = "api/container-hosts";
const of = (id: string, rest = "") => `${PATH}/${encodeURIComponent(id)}${rest}`;
const box = (caseName: string, rest = "") => `api/cases/${encodeURIComponent(caseName)}/container${rest}`;

/** None for anybody but an admin. */
export const readContainerHosts = () => request<ContainerHost[]>("GET", PATH);

export const addContainerHost = (body: ContainerHostBody) =>
  request<OneContainerHost>("POST", PATH, { body });

export const changeContainerHost = (id: string, body: ContainerHostBody) =>
  request<OneContainerHost>("PUT", of(id), { body });

export const removeContainerHost = (id: string) => request<Nothing>("DELETE", of(id));

export const readContainers = (id: string) => request<Containers>("GET", of(id, "/containers"));

/** Answers when it is built, which takes minutes. */
export const buildImage = (id: string) => request<Nothing>("POST", of(id, "/build"));

export const cancelBuild = (id: string) => request<Nothing>("POST", of(id, "/build/cancel"));

export const readBuildLog = (id: string) => request<BuildLog>("GET", of(id, "/build/log"));

export const readContainer = (caseName: string) => request<ContainerDetails>("GET", box(caseName));

export const recreateContainer = (caseName: string) =>
  request<ContainerDetails>("POST", box(caseName, "/recreate"));
