"""A certificate authority for one test run, made with the openssl command."""

import pathlib
import ssl
import subprocess


def _openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr


class Authority:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.certificate = self.directory / "ca.pem"
        self.key = self.directory / "ca.key"
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                 "-subj", "/CN=test authority", "-keyout", str(self.key), "-out", str(self.certificate))

    def server_context(self, name="server", subject="IP:127.0.0.1,DNS:localhost"):
        """For a listener whose certificate is valid for `subject`."""
        key, request, certificate = (self.directory / f"{name}.{end}" for end in ("key", "csr", "pem"))
        extensions = self.directory / f"{name}.ext"
        extensions.write_text(f"subjectAltName={subject}\n")
        _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                 "-keyout", str(key), "-out", str(request))
        _openssl("x509", "-req", "-in", str(request), "-CA", str(self.certificate), "-CAkey", str(self.key),
                 "-CAcreateserial", "-days", "2", "-extfile", str(extensions), "-out", str(certificate))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context
