/** The test service accepts the signature of Amazon's documentation. */
import t from "tap";
import { signatureOf } from "../../src/simulator/s3-server.js";

t.test("the example of Amazon's documentation has the signature that is printed there", async (t) => {
  const headers = {
    host: "examplebucket.s3.amazonaws.com",
    range: "bytes=0-9",
    "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "x-amz-date": "20130524T000000Z",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=",
  };
  const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  t.equal(
    signatureOf({ method: "GET", url: "/test.txt", headers }, secret, "us-east-1"),
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
  const listing = {
    ...headers,
    authorization: headers.authorization.replace("host;range;", "host;"),
  };
  t.equal(
    signatureOf({ method: "GET", url: "/?max-keys=2&prefix=J", headers: listing }, secret, "us-east-1"),
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
});
