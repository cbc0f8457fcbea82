// Calls of the table through AWS's SDK.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchGetCommand, DynamoDBDocumentClient, GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";

const { AWS_REGION: region, AWS_ENDPOINT_URL_DYNAMODB: endpoint } = process.env;

// Given here, the credentials are not searched for.
const credentials = {
  accessKeyId: process.env.AWS_ACCESS_KEY_ID,
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY,
  sessionToken: process.env.AWS_SESSION_TOKEN,
};
const client = DynamoDBDocumentClient.from(new DynamoDBClient({ region, endpoint, credentials }));
const commands = { GetItem: GetCommand, BatchGetItem: BatchGetCommand, Query: QueryCommand };

/** The response to a call. */
export const send = (operation, request) => client.send(new commands[operation](request));
