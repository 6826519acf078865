/** The routes of container hosts and of cases' containers (protocol-containers). */
import { request } from "../../api/client.ts";
import type {
  BuildLogResponse,
  ContainerResponse,
  ContainerHostResponse,
  ContainerHostBody,
  ContainerListResponse,
  EmptyPayload,
  ContainerHostEnvelope,
} from "../../api/types.ts";

const PATH = "api/container-hosts";
const of = (id: string, rest = "") => `${PATH}/${encodeURIComponent(id)}${rest}`;
const box = (caseName: string, rest = "") => `api/cases/${encodeURIComponent(caseName)}/container${rest}`;

/** None for anybody but an admin. */
export const readContainerHosts = () => request<ContainerHostResponse[]>("GET", PATH);

export const addContainerHost = (body: ContainerHostBody) =>
  request<ContainerHostEnvelope>("POST", PATH, { body });

export const changeContainerHost = (id: string, body: ContainerHostBody) =>
  request<ContainerHostEnvelope>("PUT", of(id), { body });

export const removeContainerHost = (id: string) => request<EmptyPayload>("DELETE", of(id));

export const readContainers = (id: string) => request<ContainerListResponse>("GET", of(id, "/containers"));

/** Answers when it is built, which takes minutes. */
export const buildImage = (id: string) => request<EmptyPayload>("POST", of(id, "/build"));

export const cancelBuild = (id: string) => request<EmptyPayload>("POST", of(id, "/build/cancel"));

export const readBuildLog = (id: string) => request<BuildLogResponse>("GET", of(id, "/build/log"));

export const readContainer = (caseName: string) => request<ContainerResponse>("GET", box(caseName));

export const recreateContainer = (caseName: string) =>
  request<ContainerResponse>("POST", box(caseName, "/recreate"));
