import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.TransactionsApi;
import org.openapitools.client.auth.HttpBearerAuth;
import org.openapitools.client.model.*;

/** The flow with the java client of openapi-generator. */
public class Flow {
  static void step(String name) {
    System.out.println("step " + name);
  }

  static void require(boolean isTrue, Object seen) {
    if (!isTrue) throw new AssertionError(seen);
  }

  static okhttp3.ResponseBody raw(TransactionsApi transactions, String id, String format) throws Exception {
    return transactions.getReceiptCall(id, format, null, null, null, null, null).execute().body();
  }

  public static void main(String[] args) throws Exception {
    String subject = System.getenv("ACCORD_SUBJECT");
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("ACCORD_URL"));
    ((HttpBearerAuth) client.getAuthentication("oidc")).setBearerToken(System.getenv("ACCORD_TOKEN"));
    TransactionsApi transactions = new TransactionsApi(client);

    step("create");
    ConsentContext context = new ConsentContext().subject(subject).layout("layout.001");
    Transaction created = transactions.createTransaction(context);
    require(created.getState() == State.CREATED, created);
    String id = created.getId();

    step("form");
    Form form = transactions.getForm(id, null, null, null, null);
    Map<String, List<String>> answers = new HashMap<>();
    for (FormElement element : form.getElements()) {
      ShownContent content = element.getContent();
      require(content.getTitle() != null || content.getLabel() != null, element);
      answers.put(element.getIdentifier(), List.of(element.getAnswers().get(0)));
    }

    step("submit");
    Transaction submitted = transactions.submitAnswers(id, answers, null, null, null);
    require(submitted.getState() == State.COMMITTED, submitted);

    step("records");
    Map<String, List<ConsentRecord>> records =
        transactions.listRecords(subject, null, null, null, null, null, null, null);
    require(records.get("processing.001").get(0).getSubject().equals(subject), records);

    step("receipt");
    Receipt receipt = transactions.getReceipt(id, null, null, null, null, null);
    require(!receipt.getConsents().get(0).getAnswer().isEmpty(), receipt);

    step("signed");
    // Typed results are JSON; the other media types are read from the response itself.
    require(raw(transactions, id, "jose").string().split("\\.").length == 3, "jose");
    require(new String(raw(transactions, id, "pdf").bytes(), 0, 5).equals("%PDF-"), "pdf");

    step("later");
    // What a later version of an instance may send.
    String later = created.toJson().replaceFirst("\\{", "{\"laterMember\":true,").replace("CREATED", "LATER");
    require(Transaction.fromJson(later).getState() == State.UNKNOWN_DEFAULT_OPEN_API, later);

    step("event");
    ConsentEvent event = ConsentEvent.fromJson(System.getenv("ACCORD_EVENT"));
    require(event.getData().getState() == State.COMMITTED && event.getData().getVersion() > 0, event);

    step("withdraw");
    WithdrawalInput input = new WithdrawalInput().elements(List.of("processing.001"));
    Transaction withdrawal = transactions.withdrawConsents(id, input, null, null);
    require("WITHDRAWAL".equals(String.valueOf(withdrawal.getKind())), withdrawal);

    step("problem");
    try {
      transactions.createTransaction(new ConsentContext().subject(subject).layout("unknown"));
      throw new AssertionError("an unknown layout was accepted");
    } catch (ApiException failure) {
      Problem problem = Problem.fromJson(failure.getResponseBody());
      require("unknown-element".equals(problem.getCode()) || "invalid".equals(problem.getCode()), problem);
      require(problem.getErrors().get(0).getPointer().equals("/layout"), problem);
    }

    step("done");
  }
}
